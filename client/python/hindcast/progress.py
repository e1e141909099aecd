"""A line that shows how far a run is: in a terminal and in a notebook, and nothing in a pipe."""

from __future__ import annotations

import sys
from typing import Any, Optional

from .drawing import printable

WIDTH = 30


class Progress:
    """One line on standard error, drawn again at each change and taken away at the end."""

    def __init__(self, label: str, shown: Optional[bool]) -> None:
        self._label = label
        self._handle: Any = None
        self._is_notebook = _in_notebook()
        self._shown = (self._is_notebook or sys.stderr.isatty()) if shown is None else shown
        self._length = 0

    def show(self, fraction: float, text: str) -> None:
        """Draws a share from 0 to 1, and a word beside it."""
        if not self._shown:
            return
        done = round(WIDTH * fraction)
        line = f"{self._label} [{'#' * done}{'.' * (WIDTH - done)}] {fraction:4.0%} {text}"
        if self._is_notebook:
            self._show_in_notebook(line)
        else:
            line = printable(line)
            sys.stderr.write("\r" + line.ljust(self._length))
            sys.stderr.flush()
            self._length = len(line)

    def close(self) -> None:
        """Takes the line away."""
        if self._handle is not None:
            self._handle.update({"text/plain": ""}, raw=True)
        elif self._length > 0:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()

    def _show_in_notebook(self, line: str) -> None:
        from IPython.display import display  # type: ignore

        data = {"text/plain": line}
        if self._handle is None:
            self._handle = display(data, raw=True, display_id=True)
        else:
            self._handle.update(data, raw=True)


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return type(found).__name__ == "ZMQInteractiveShell"
