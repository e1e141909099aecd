"""Runs, optimizations and simulations: records that can be followed, and the tables behind them."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any, Optional, TypeVar
from urllib.parse import quote

from . import drawing
from .errors import HindcastError, RunFailed, ServiceUnreachable
from .progress import Progress
from .records import Record
from .tables import Table, read_table, to_table
from .transport import Transport

ENDED = ("completed", "failed", "cancelled")

Kind = TypeVar("Kind", bound="_Job")


class _Job:
    """A record of the service that is queued, runs and ends."""

    _kind = ""
    _path = ""

    def __init__(self, transport: Transport, record: Record) -> None:
        self._transport = transport
        self.record = record

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "record":
            raise AttributeError(name)
        if name in self.record:
            return self.record[name]
        near = difflib.get_close_matches(name, [each for each in dir(self) if not each.startswith("_")], 1)
        if near:
            raise AttributeError(f"There is no field {name}: did you mean {near[0]}?")
        return getattr(self.record, name)

    def __dir__(self):
        return [*super().__dir__(), *self.record]

    def wait(self: Kind, progress: Optional[bool] = None) -> Kind:
        """Follows it to its end, through lost connections.

        Args:
            progress: Whether to draw progress; by itself in terminals and notebooks.

        Raises:
            RunFailed: It failed or was cancelled.
        """
        line = Progress(self.record.get("strategy") or self._kind.replace("_", " "), progress)
        try:
            if self.record["status"] not in ENDED:
                for event in self._transport.events(f"{self._own()}/events"):
                    self.record = event[self._kind]
                    line.show(self.record["progress"], self.record["status"])
        finally:
            line.close()
        if self.record["status"] != "completed":
            raise RunFailed(self.record)
        return self

    def refresh(self: Kind) -> Kind:
        """Reads the record anew."""
        self.record = self._transport.json("GET", self._own())[self._kind]
        return self

    def cancel(self) -> None:
        """Stops it; what has ended stays as it is and is refused."""
        self._transport.json("POST", f"{self._own()}/cancel")

    def delete(self) -> None:
        """Deletes it for good."""
        self._transport.json("DELETE", self._own())

    def call(self, what: str, **query: Any) -> Any:
        """Any list or figure below its path, page by page: `run.call("trades", limit=50)`."""
        return self._transport.json("GET", f"{self._own()}/{what}", None, query)

    def _own(self) -> str:
        return f"{self._path}/{quote(self.record['id'], safe='')}"

    def _table(self, what: str, query: Optional[dict] = None, index: Optional[str] = None) -> Table:
        return read_table(self._transport, f"{self._own()}/{what}", what, query, index)


class _Tried(_Job):
    """A job whose result is one of many tries."""

    _tries = ""

    @property
    def tries(self) -> Optional[Record]:
        """How many tries of yours it is one of, and what they leave of its Sharpe ratio: `tries.conclusion`. None before its end."""
        # Neither events nor answers to a submission count the tries.
        if self.record["status"] in ENDED and self._tries not in self.record:
            self.refresh()
        return self.record.get(self._tries)

    def _conclusion(self) -> Optional[str]:
        try:
            return self.tries["conclusion"] if self.tries else None
        except (HindcastError, ServiceUnreachable):
            # What is there already is shown all the same.
            return None


class Run(_Tried):
    """A backtest. Fields of its record are attributes: `run.status`, `run.symbol`, `run.metrics.sharpe`."""

    _kind = "backtest"
    _path = "/api/backtests"
    _tries = "trials"

    @property
    def metrics(self) -> Record:
        """Every metric by its name; a null one has its reason in `run.result.undefined_metrics`."""
        return self._result()["metrics"]

    @property
    def trades(self) -> Table:
        """One row a trade, oldest first; times in UTC, `pnl` net of fees, fractions as fractions."""
        return self._table("trades")

    @property
    def orders(self) -> Table:
        """One row an order, with its fate."""
        return self._table("orders")

    @property
    def equity(self) -> Table:
        """Equity, drawdown (a fraction) and position at each candle, indexed by the candle's open."""
        return self._table("equity", index="timestamp")

    @property
    def returns(self) -> Table:
        """Daily returns as fractions, and the equity at each day's end: `run.returns["return"]` suits quantstats and pyfolio."""
        return self._table("returns", {"period": "daily"}, "timestamp")

    @property
    def series(self) -> Table:
        """The values that the strategy plotted."""
        return self._table("series", index="timestamp")

    @property
    def holdings(self) -> Table:
        """The weight and the profit of each market over time; empty of a run over one market."""
        return self._table("holdings")

    @property
    def log(self) -> list:
        """The lines that the strategy wrote."""
        return self._transport.json("GET", f"{self._own()}/log")["log"]

    def report(self, path: Any) -> Path:
        """Writes the report, one HTML file that needs no network."""
        data, _ = self._transport.bytes("GET", f"{self._own()}/report", accept="text/html")
        Path(path).write_bytes(data)
        return Path(path)

    def update(self, **labels: Any) -> "Run":
        """Sets `name`, `tags`, `notes` or `star`."""
        self.record = self._transport.json("PATCH", self._own(), {"backtest": labels})["backtest"]
        return self

    def verify(self, wait: bool = True) -> "Run":
        """Runs the same again: the new run's `differences()` says where it differs."""
        made = self._transport.json("POST", f"{self._own()}/verify")["backtest"]
        run = Run(self._transport, made)
        return run.wait() if wait else run

    def monte_carlo(self, method: str = "trades", runs: int = 1000, *, wait: bool = True, **settings: Any) -> "MonteCarlo":
        """Simulates how else it could have gone: `trades`, `returns` or `candles` are drawn anew."""
        body = {"backtest_id": self.record["id"], "method": method, "runs": runs, **settings}
        made = self._transport.json("POST", "/api/monte-carlo", {"monte_carlo": body})["monte_carlo"]
        simulation = MonteCarlo(self._transport, made)
        return simulation.wait() if wait else simulation

    def stress(self, *, wait: bool = True) -> "StressTest":
        """Runs the same with higher costs, later orders, worse prices and other parameters, and without its best days."""
        made = self._transport.json("POST", f"{self._own()}/stress")["stress_test"]
        test = StressTest(self._transport, made)
        return test.wait() if wait else test

    def plot(self) -> Any:
        """Equity, drawdown and the trades' results as a matplotlib figure."""
        return drawing.plot_run(self)

    def _result(self) -> Record:
        result = self.record["result"]
        if result is None:
            raise RunFailed(self.record) if self.record["status"] in ENDED else ValueError(
                f"The run is {self.record['status']}: call wait() first"
            )
        return result

    def __repr__(self) -> str:
        return drawing.printable(drawing.describe_run(self.record, self._conclusion()))

    def _repr_html_(self) -> str:
        if self.record["result"] is None:
            return f"<pre>{drawing.escape(repr(self))}</pre>"
        points = self._transport.json("GET", f"{self._own()}/equity", None, {"points": drawing.POINTS})["equity"]
        trades = self._transport.json("GET", f"{self._own()}/trades", None, {"limit": drawing.TRADES})["trades"]
        return drawing.draw_run(self.record, points, trades, self._conclusion())


class Optimization(_Tried):
    """Many trials of one strategy. `optimization.best` are the best ones, `trials` is the table of all."""

    _kind = "optimization"
    _path = "/api/optimizations"
    _tries = "tries"

    @property
    def trials(self) -> Table:
        """One row a trial: its parameters, every metric, and its error."""
        return self._table("trials")

    @property
    def ranking(self) -> Record:
        """Of several markets: `points` by the median over the markets, and `markets` by the best of them."""
        return self._transport.json("GET", f"{self._own()}/ranking")["ranking"]

    def backtest(self, number: int, wait: bool = True) -> Run:
        """A trial as a complete run."""
        made = self._transport.json("POST", f"{self._own()}/trials/{int(number)}/backtest")["backtest"]
        run = Run(self._transport, made)
        return run.wait() if wait else run

    def surface(self, x: str, y: str, **query: Any) -> Record:
        """The objective over two parameters, for a heat map."""
        return self._transport.json("GET", f"{self._own()}/surface", None, {"x": x, "y": y, **query})

    def __repr__(self) -> str:
        return drawing.printable(drawing.describe_optimization(self.record, self._conclusion()))


class MonteCarlo(_Job):
    """A run's other possible courses. `result.samples` has quantiles, probabilities and curves."""

    _kind = "monte_carlo"
    _path = "/api/monte-carlo"

    @property
    def figures(self) -> Table:
        """One row a figure: where the real run lies, and the quantiles of the simulated ones."""
        rows = [
            Record(sampling=sample["sampling"], figure=name, real=figure["real"], **(figure["quantiles"] or {}))
            for sample in (self.record["result"] or {"samples": []})["samples"]
            for name, figure in sample["figures"].items()
        ]
        return to_table(rows)

    def __repr__(self) -> str:
        return f"MonteCarlo({self.record['method']}, {self.record['runs']} runs, {self.record['status']})"


class StressTest(_Job):
    """What is left of a run where something is a little worse. `result.break_even_cost` is the commission that uses its profit up."""

    _kind = "stress_test"
    _path = "/api/stress-tests"

    @property
    def rows(self) -> Table:
        """One row a change, the run itself first: total return, Sharpe ratio, drawdown and trades."""
        return self._rows("rows")

    @property
    def regimes(self) -> Table:
        """The same figures of parts of the run's days, each with their number."""
        return self._rows("regimes")

    def _rows(self, what: str) -> Table:
        rows = (self.record["result"] or {what: []})[what]
        return to_table([Record({**{k: v for k, v in row.items() if k != "figures"}, **(row["figures"] or {})}) for row in rows])

    def __repr__(self) -> str:
        return drawing.printable(drawing.describe_stress_test(self.record))
