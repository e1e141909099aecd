"""The catalogue of strategies: find one, read its code, keep one of yours."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Union
from urllib.parse import quote

from .errors import HindcastError
from .records import Record
from .sources import Strategy, describe_strategy
from .tables import Table, to_table
from .transport import Transport

ACCESS = {True: "open", False: "hidden"}


class Catalogue:
    """What `Hindcast` can do with strategies."""

    _transport: Transport

    def strategies(self, **filters: Any) -> Table:
        """The catalogue: `search`, `runtime_type` and `source` choose."""
        return to_table(self._transport.json("GET", "/api/strategies", None, filters)["strategies"])

    def strategy(self, slug: str) -> Record:
        """One strategy of the catalogue, with its parameters and, as `source_access`, whether its code is open."""
        return self._transport.json("GET", _path(slug))["strategy"]

    def source(self, slug: str, version: Optional[str] = None) -> Union[str, bytes]:
        """The code of a strategy of yours, or of an open one: a script's text, or a module's bytes.

        Args:
            version: The newest by default.

        Raises:
            HindcastError: Its owner keeps it hidden, or it has no code here.
        """
        number = self.strategy(slug).latest_version if version is None else version
        data, headers = self._transport.bytes("GET", f"{_path(slug)}/versions/{quote(number, safe='')}/artifact", accept="*/*")
        return data if headers.get("content-type", "").startswith("application/wasm") else data.decode()

    def save_strategy(
        self,
        slug: str,
        strategy: Strategy,
        *,
        name: Optional[str] = None,
        description: str = "",
        public: bool = False,
        open: bool = False,
        **settings: Any,
    ) -> Record:
        """Registers a strategy of yours, privately; one that is there already gets a new version, and nothing else changes.

        Args:
            strategy: A class, a file (`.py`, `.ts`, `.js`, `.wasm`) or an endpoint.
            name: Its display name, which runs use; the slug by default.
            public: Others may run it.
            open: Who may run it may read its code, too.
            **settings: The service's further fields of a new one, such as `parameter_schema` and `lookback_candles`.

        Returns:
            The version.
        """
        _, runtime = describe_strategy(strategy)
        if runtime is None:
            raise ValueError(f"Cannot keep {strategy!r}: it is a name, not a class, a file or an endpoint")
        version = {"runtime_config": runtime}
        new = {
            **{"slug": slug, "name": name or slug, "description": description, "runtime_type": runtime["type"]},
            **{"language": runtime.get("language", runtime["type"]), "is_public": public, "source_access": ACCESS[open]},
            **{"initial_version": version, **settings},
        }
        try:
            return self._transport.json("POST", "/api/strategies", {"strategy": new})["version"]
        except HindcastError as error:
            if error.code != "SLUG_TAKEN":
                raise
        return self._transport.json("POST", f"{_path(slug)}/versions", {"version": version})["version"]

    def share(self, slug: str, *, public: Optional[bool] = None, open: Optional[bool] = None) -> Record:
        """Says who may run a strategy of yours (`public`), and whether they may read its code (`open`).

        Returns:
            The strategy.
        """
        changes: Mapping[str, Any] = {
            **({} if public is None else {"is_public": public}),
            **({} if open is None else {"source_access": ACCESS[open]}),
        }
        return self._transport.json("PATCH", _path(slug), {"strategy": changes})["strategy"]


def _path(slug: str) -> str:
    return f"/api/strategies/{quote(slug, safe='')}"
