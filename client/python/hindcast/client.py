"""`connect()`, and what can be asked of a service."""

from __future__ import annotations

import io
import json
import os
import uuid
from pathlib import Path
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from .catalogue import Catalogue
from .errors import HindcastError
from .records import Record
from .results import MonteCarlo, Optimization, Run, StressTest
from .sources import Strategy, describe_strategy, to_space
from .tables import Table, read_pages, read_table, to_table
from .transport import Transport

DEFAULT_URL = "http://127.0.0.1:8000"
BALANCE = 10_000
# A page of a list.
PAGE = 200

# "DEMO@SAMPLE", the symbol and the exchange, or several of the first kind.
Market = Union[str, Sequence[str]]


def connect(url: Optional[str] = None, token: Optional[str] = None) -> "Hindcast":
    """A service, seen by one user.

    Args:
        url: Its address; without one HINDCAST_URL, else what `hindcast login` saved, else http://127.0.0.1:8000.
        token: From the console's Account page; without one HINDCAST_TOKEN, else what `hindcast login` saved. A token that was saved
            for another address is never sent.

    Raises:
        ValueError: The URL is none.
    """
    saved = _read_login()
    url = url or os.environ.get("HINDCAST_URL") or saved.get("url") or DEFAULT_URL
    token = token or os.environ.get("HINDCAST_TOKEN")
    if token is None and saved.get("url", "").rstrip("/") == url.rstrip("/"):
        token = saved.get("token")
    return Hindcast(Transport(url, token))


def _read_login() -> Mapping[str, str]:
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    path = Path(home, "hindcast", "login.json")
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


class Hindcast(Catalogue):
    """A service, seen by one user. `connect()` makes it."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def __repr__(self) -> str:
        return f"Hindcast({self._transport.url!r})"

    def run(
        self,
        strategy: Strategy,
        market: Optional[Market] = None,
        start: Any = None,
        end: Any = None,
        *,
        balance: float = BALANCE,
        timeframe: Optional[str] = None,
        commission: Any = None,
        execution: Optional[Mapping[str, Any]] = None,
        wait: bool = True,
        progress: Optional[bool] = None,
        labels: Optional[Mapping[str, Any]] = None,
        **parameters: Any,
    ) -> Run:
        """Runs a backtest and waits for its end.

        Args:
            strategy: A name of the catalogue, a class or a file of yours, or an endpoint's address.
            market: `"DEMO@SAMPLE"`, or the symbol and the exchange. Several, `["OAK@SAMPLE", "BIRCH@SAMPLE"]`, share one account.
                With `universe` or `instruments` it is the benchmark, and need not be given: then it is their first one, of a
                universe the first that is in it all the time.
            start: The first day: a date, a datetime or `"2024-01-01"`.
            end: The day after the last.
            balance: Starting capital, in money.
            timeframe: Such as `"1h"`; without one the strategy's own.
            commission: A rate (0.0005 is 0.05 %), or the service's `{rate, fixed, ...}`.
            execution: Other assumptions about fills and costs, by the service's names.
            wait: False returns at once; `run.wait()` follows it.
            progress: Whether to draw progress; by itself in terminals and notebooks.
            labels: The run's `name`, `tags`, `notes`, `star`, or `fresh` to simulate again what is stored.
            **parameters: The strategy's own; `universe="my-list"` runs over the members of a universe in place of `market`,
                `instruments=["OAK@SAMPLE", "BIRCH@SAMPLE"]` over these.

        Raises:
            HindcastError: The service refuses the request.
            RunFailed: The run ended without a result.
            ValueError: The dates are missing, or the market without a universe and instruments.
        """
        market = self._benchmark(market, parameters.get("universe"), parameters)
        body = self._question(strategy, market, start, end, balance, timeframe, commission, execution, parameters)
        record = self._submit("/api/backtests", "backtest", {**body, **(labels or {})})
        run = Run(self._transport, record)
        return run.wait(progress) if wait else run

    def optimize(
        self,
        strategy: Strategy,
        market: Optional[Market] = None,
        start: Any = None,
        end: Any = None,
        *,
        space: Optional[Mapping[str, Any]] = None,
        objective: Optional[str] = None,
        method: Optional[str] = None,
        constraints: Sequence[str] = (),
        walk_forward: Optional[Mapping[str, Any]] = None,
        universe: Optional[str] = None,
        balance: float = BALANCE,
        timeframe: Optional[str] = None,
        commission: Any = None,
        execution: Optional[Mapping[str, Any]] = None,
        wait: bool = True,
        progress: Optional[bool] = None,
        settings: Optional[Mapping[str, Any]] = None,
        **parameters: Any,
    ) -> Optimization:
        """Tries many parameters. What `run()` says of its arguments holds here, too.

        With several markets, or a universe, each is tried alone: `ranking` then has the points by the median over the markets.

        Args:
            space: `{"fast": range(5, 50, 5), "slow": [50, 100]}`; without one the strategy's own bounds.
            objective: A metric, `"sharpe"` by default.
            method: `"grid"` (default), `"random"` or `"tpe"`.
            constraints: Such as `"fast < slow"`.
            walk_forward: `{"train_days": 365, "test_days": 90}`.
            universe: The slug of a universe, whose members are tried in place of `market`.
            settings: The service's further fields, such as `trials_max`, `seed` and `direction`.
            **parameters: Of the strategy, the same in each trial.
        """
        market = self._benchmark(market, universe, parameters)
        body = self._question(strategy, market, start, end, balance, timeframe, commission, execution, parameters)
        asked = {"objective": objective, "method": method, "walk_forward": walk_forward, **(settings or {})}
        body.update({name: value for name, value in asked.items() if value is not None})
        if space is not None:
            body["space"] = to_space(space)
        if constraints:
            body["constraints"] = list(constraints)
        several = body["parameters"].pop("instruments", None) if _is_several(market) else None
        if universe is not None or several is not None:
            body["markets"] = {"instruments": several} if universe is None else {"universe": universe}
        record = self._submit("/api/optimizations", "optimization", body)
        optimization = Optimization(self._transport, record)
        return optimization.wait(progress) if wait else optimization

    def get(self, id: str) -> Run:
        """A stored run by its id."""
        return Run(self._transport, self._transport.json("GET", f"/api/backtests/{id}")["backtest"])

    def get_optimization(self, id: str) -> Optimization:
        """A stored optimization by its id."""
        return Optimization(self._transport, self._transport.json("GET", f"/api/optimizations/{id}")["optimization"])

    def get_monte_carlo(self, id: str) -> MonteCarlo:
        """A stored Monte Carlo simulation by its id."""
        return MonteCarlo(self._transport, self._transport.json("GET", f"/api/monte-carlo/{id}")["monte_carlo"])

    def get_stress_test(self, id: str) -> StressTest:
        """A stored stress test by its id."""
        return StressTest(self._transport, self._transport.json("GET", f"/api/stress-tests/{id}")["stress_test"])

    def runs(self, **filters: Any) -> Table:
        """Your runs, newest first, in short: `status`, `strategy`, `symbol`, `tag`, `search`, `sort` and others choose."""
        return to_table(self._transport.json("GET", "/api/backtests", None, {**filters, "view": "summary"})["backtests"])

    def instruments(self, search: Optional[str] = None) -> Table:
        """The candles that the service holds: symbols, exchanges, timeframes and dates."""
        query = {"search": search, "limit": PAGE}
        return to_table(list(read_pages(self._transport, "/api/market-data/instruments", "instruments", query)))

    def universes(self, search: Optional[str] = None) -> Table:
        """Lists of markets, your own and public ones, newest first."""
        query = {"search": search, "limit": PAGE}
        return to_table(list(read_pages(self._transport, "/api/universes", "universes", query)))

    def universe(self, slug: str, version: Optional[int] = None) -> Table:
        """The members of a universe, with the days from and to which each belongs to it; the newest version by default."""
        return to_table(list(self._members(slug, version)))

    def save_universe(self, slug: str, members: Any, description: str = "") -> Record:
        """Keeps a list of markets of yours; one that is there already gets a new version.

        Args:
            members: `["OAK@SAMPLE", ...]`, records or a DataFrame with symbol, exchange and, where a market came or left, from and to
                as days.
            description: Of a new universe.

        Returns:
            The universe, or its new version.
        """
        rows = {"members": _to_members(members)}
        try:
            made = self._transport.json("POST", "/api/universes", {"universe": {"slug": slug, "description": description, **rows}})
            return made["universe"]
        except HindcastError as error:
            if error.code != "SLUG_TAKEN":
                raise
        return self._transport.json("POST", f"/api/universes/{quote(slug, safe='')}/versions", {"version": rows})["version"]

    def candles(self, market: Market, start: Any, end: Any, *, timeframe: str = "1d", **query: Any) -> Table:
        """Candles from the first day to the day before the last, indexed by the time of their open, in UTC."""
        symbol, exchange = _split(market)
        asked = {"symbol": symbol, "exchange": exchange, "startDate": _date(start), "endDate": _date(end)}
        query = {**asked, "timeframe": timeframe, **query}
        return read_table(self._transport, "/api/market-data/ticks", "ticks", query, "timestamp")

    def upload(
        self,
        candles: Any,
        market: Market,
        *,
        timeframe: str,
        asset_class: Optional[str] = None,
        currency: Optional[str] = None,
        **query: Any,
    ) -> Record:
        """Imports candles. It needs a token of the scope `admin`.

        Args:
            candles: A DataFrame with open, high, low, close, volume and times as its index or a column, or a CSV file's path.
            market: The instrument, such as `"MINE@LAB"`.
            asset_class: `"stock"`, `"forex"` or `"crypto"`, where the instrument is new.
            currency: The one of its prices, such as `"EUR"`; without it, an account's.

        Returns:
            What was imported, unchanged, revised and rejected, line by line.
        """
        symbol, exchange = _split(market)
        asked = {"symbol": symbol, "exchange": exchange, "timeframe": timeframe, "assetClass": asset_class, "currency": currency, **query}
        data = _to_csv(candles)
        return self._transport.json("POST", "/api/admin/ingestion/import", data, asked, content_type="text/csv")

    def call(self, method: str, path: str, body: Optional[Mapping[str, Any]] = None, **query: Any) -> Any:
        """Any route of the API, such as `hc.call("GET", "/api/session")`: what has no method of its own here."""
        return self._transport.json(method, path, body, query)

    def _members(self, slug: str, version: Union[int, str, None]) -> Iterator[Record]:
        query = {"version": version, "limit": PAGE}
        return read_pages(self._transport, f"/api/universes/{quote(slug, safe='')}/members", "members", query)

    def _benchmark(self, market: Optional[Market], universe: Optional[str], parameters: Mapping[str, Any]) -> Market:
        if market is not None:
            return market
        if universe is not None:
            slug, _, version = universe.partition("@")
            first: Optional[List[str]] = None
            for row in self._members(slug, version or None):
                names = [row["symbol"], row["exchange"]]
                if row["from"] is None and row["to"] is None:
                    return names
                first = first or names
            if first is not None:
                return first
        for each in parameters.get("instruments") or []:
            return each if isinstance(each, str) else [each["symbol"], each["exchange"]]
        raise ValueError("Cannot run without a market: name one, as 'DEMO@SAMPLE', a universe with members, or instruments")

    def _question(self, strategy, market, start, end, balance, timeframe, commission, execution, parameters) -> Dict[str, Any]:
        name, runtime = describe_strategy(strategy)
        several = [_market(each) for each in market] if _is_several(market) else []
        symbol, exchange = _split(market[0] if several else market)
        assumed = dict(execution or {})
        if commission is not None:
            assumed["commission"] = commission
        named: Optional[List[Dict[str, str]]] = None
        # A universe takes the place of the markets.
        if several and parameters.get("universe") is None:
            named = several
        elif parameters.get("instruments") is not None:
            named = [_market(each) if isinstance(each, str) else dict(each) for each in parameters["instruments"]]
        sent = {"timeframe": timeframe, "runtime": runtime, "execution": assumed or None, "instruments": named}
        return {
            "symbol": symbol,
            "exchange": exchange,
            "strategy": name,
            "start_date": _date(start),
            "end_date": _date(end),
            "initial_balance": balance,
            "parameters": {**parameters, **{key: value for key, value in sent.items() if value is not None}},
        }

    def _submit(self, path: str, kind: str, body: Mapping[str, Any]) -> Record:
        # With a key of its own, a submission whose answer was lost can be sent again.
        return self._transport.json("POST", path, {kind: body}, Idempotency_Key=str(uuid.uuid4()))[kind]


def _split(market: Market) -> List[str]:
    parts = market.rsplit("@", 1) if isinstance(market, str) else list(market)
    if len(parts) != 2 or not all(parts):
        raise ValueError(f"Cannot find {market!r}: write the symbol and the exchange, as in 'DEMO@SAMPLE'")
    return parts


def _is_several(market: Market) -> bool:
    return not isinstance(market, str) and all("@" in each for each in market)


def _market(market: Market) -> Dict[str, str]:
    symbol, exchange = _split(market)
    return {"symbol": symbol, "exchange": exchange}


def _to_members(members: Any) -> List[Dict[str, str]]:
    if hasattr(members, "to_dict"):
        members = members.to_dict("records")
    rows = [_market(each) if isinstance(each, str) else dict(each) for each in members]
    # A frame has NaT or NaN where a day is not given, which alone differ from themselves.
    return [{name: _date(value) for name, value in row.items() if value is not None and value == value} for row in rows]


def _date(day: Any) -> str:
    if day is None:
        raise ValueError("Cannot run without dates: name the first day and the one after the last, as in start='2024-01-01'")
    return day if isinstance(day, str) else day.strftime("%Y-%m-%d")


def _to_csv(candles: Any) -> bytes:
    if hasattr(candles, "to_csv"):
        text = io.StringIO()
        has_times = any(str(name).lower() in ("timestamp", "date", "time", "datetime") for name in candles.columns)
        candles.to_csv(text, index=not has_times, index_label=None if has_times else "timestamp")
        return text.getvalue().encode()
    return Path(candles).read_bytes()
