"""Strategies that are not registered: a class, a file or an endpoint becomes `parameters.runtime` of a run."""

from __future__ import annotations

import ast
import base64
import inspect
import linecache
import textwrap
from os import PathLike
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple, Union

# A name of the catalogue, a file, the address of an endpoint, a class that derives from Strategy, or a whole `parameters.runtime`.
Strategy = Union[str, "PathLike[str]", type, Mapping[str, Any]]

BASES = ("Strategy", "Portfolio")
LANGUAGES = {".py": "python", ".ts": "typescript", ".js": "javascript"}


def describe_strategy(strategy: Strategy) -> Tuple[str, Optional[Mapping[str, Any]]]:
    """The name that a run shows, and how to run it; None for a strategy of the catalogue.

    Raises:
        ValueError: It is a file of no known kind, or a class without a readable source.
    """
    if isinstance(strategy, type):
        return strategy.__name__, {"type": "script", "language": "python", "source": source_of(strategy)}
    if isinstance(strategy, Mapping):
        return str(strategy.get("endpoint") or strategy.get("type")), dict(strategy)
    text = str(strategy)
    if text.startswith(("http://", "https://", "serve:")):
        return text, {"type": "remote", "endpoint": text}
    path = Path(text)
    if path.suffix in LANGUAGES:
        return path.stem, {"type": "script", "language": LANGUAGES[path.suffix], "source": path.read_text("utf-8")}
    if path.suffix == ".wasm":
        content = base64.b64encode(path.read_bytes()).decode()
        artifact = {"file_name": path.name, "content_base64": content, "content_type": "application/wasm"}
        return path.stem, {"type": "wasm", "artifact": artifact}
    if isinstance(strategy, str):
        return strategy, None
    raise ValueError(f"Cannot run {text}: a strategy's file ends with .py, .ts, .js or .wasm")


def source_of(strategy: type) -> str:
    """The text of a class, also of one that a notebook's cell defined.

    Only the class is sent: what it uses must be in it, or among the names that the service gives to strategies.
    """
    for member in vars(strategy).values():
        code = getattr(inspect.unwrap(member), "__code__", None) if callable(member) else None
        if code is None:
            continue
        text = "".join(linecache.getlines(code.co_filename))
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and node.name == strategy.__name__ and _holds(node, code.co_firstlineno):
                lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
                _shorten_bases(node, lines)
                return textwrap.dedent("\n".join(lines)) + "\n"
    raise ValueError(f"Cannot read the source of {strategy.__name__}: write it in a file or in a notebook's cell, and send that")


def _shorten_bases(node: ast.ClassDef, lines: List[str]) -> None:
    """Writes `hindcast.Strategy` as the service knows it: `Strategy`, without the module."""
    for base in node.bases:
        if isinstance(base, ast.Attribute) and base.attr in BASES and base.lineno == base.end_lineno:
            n = base.lineno - node.lineno
            line = lines[n].encode("utf-8")  # Columns are counted in bytes.
            lines[n] = (line[: base.col_offset] + base.attr.encode() + line[base.end_col_offset :]).decode("utf-8")


def _holds(node: ast.ClassDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def to_space(space: Mapping[str, Any]) -> Dict[str, Any]:
    """A space of parameters: `range(5, 50, 5)`, a list of values, or the service's own `{min, max, step}`."""
    return {name: _to_axis(name, values) for name, values in space.items()}


def _to_axis(name: str, values: Any) -> Any:
    if isinstance(values, Mapping):
        return dict(values)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(
            f"Cannot use {values!r} as the space of {name}: give a range, a list or {{min, max, step}}, or fix it: {name}={values!r}"
        )
    if isinstance(values, range) and len(values) > 0:
        ordered = values if values.step > 0 else values[::-1]
        return {"min": ordered[0], "max": ordered[-1], "step": ordered.step}
    return {"values": list(values)}
