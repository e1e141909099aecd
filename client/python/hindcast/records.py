"""Records of the service as they come: every field is there by its name, also those that are newer than this package."""

from __future__ import annotations

import difflib
from typing import Any


class Record(dict):
    """A JSON object whose fields are attributes, too: `record["sharpe"]` and `record.sharpe` are the same."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            near = difflib.get_close_matches(name, list(self), 1)
            hint = f": did you mean {near[0]}?" if near else f": there are {', '.join(map(str, self))}"
            raise AttributeError(f"There is no field {name}{hint}") from None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if isinstance(key, str) and key.isidentifier())]

    def _ipython_key_completions_(self):
        return list(self)


def to_records(pairs: list) -> Record:
    """For `json.loads(object_pairs_hook=...)`."""
    return Record(pairs)
