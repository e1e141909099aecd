"""Results as people look at them: tables in a terminal, figures and curves in a notebook, plots with matplotlib."""

from __future__ import annotations

import re
from html import escape
from typing import Any, List, Mapping, Optional, Sequence, Tuple

POINTS = 400
TRADES = 5
SHOWN = (
    "total_return",
    "cagr",
    "sharpe",
    "sortino",
    "max_drawdown",
    "exposure",
    "trades",
    "win_rate",
    "profit_factor",
    "fees_paid",
    "buy_hold_return",
)
# Fractions, which people read in percent.
PERCENT = ("total_return", "cagr", "max_drawdown", "exposure", "win_rate", "buy_hold_return")
# Characters that a terminal obeys, besides ends of lines and tabs, and those that turn the direction of text.
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Without the characters that command a terminal: others choose the names and texts of an answer."""
    return COMMANDS.sub("\ufffd", text)


def describe_run(record: Mapping[str, Any], conclusion: Optional[str] = None) -> str:
    """A run for a terminal: what ran, its main figures, and what to know about it."""
    title = f"{record['strategy']} on {_market(record)}, {record['start_date']} to {record['end_date']}: {record['status']}"
    if record["result"] is None:
        error = record["error"]
        return title if error is None else f"{title}\n{error['code']}: {error['message']}"
    rows = _figures(record["result"]["metrics"])
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name.ljust(width)}  {value.rjust(10)}" for name, value in rows]
    notes = [f"  note: {note}" for note in record["result"].get("notes", [])]
    failed = _failed_checks(record["result"])
    return "\n".join([title, *lines, *notes, *failed, *([f"  {conclusion}"] if conclusion else [])])


def describe_optimization(record: Mapping[str, Any], conclusion: Optional[str] = None) -> str:
    """An optimization for a terminal: how far it is, the best trials, and how much of them is luck."""
    done = record["trials"]["done"]
    title = f"{record['strategy']} on {_market(record)}: {record['status']}, {done:,} trials"
    rows = [
        f"  #{trial['number']:<6} {record['objective']} {_number(trial['objective'])}  "
        + ", ".join(f"{name}={value}" for name, value in trial["parameters"].items())
        for trial in record["best"][:TRADES]
    ]
    said = record.get("luck") or record.get("overfitting") or {}
    lines = [said.get("conclusion"), conclusion and f"The best trial among all your tries: {conclusion}"]
    return "\n".join([title, *rows, *(f"  {line}" for line in lines if line)])


def describe_stress_test(record: Mapping[str, Any]) -> str:
    """A stress test for a terminal: each change with what is left of the run's return."""
    result = record["result"]
    title = f"stress test: {record['status']}"
    if result is None:
        return title
    rows = [
        f"  {row['name']:<48} total return {_percent(row['figures'])}"
        for row in result["rows"]
    ]
    even = result["break_even_cost"]
    return "\n".join([title, *rows, *([f"  a commission of {even:.5f} uses its profit up"] if even is not None else [])])


def draw_run(
    record: Mapping[str, Any],
    points: Sequence[Mapping[str, Any]],
    trades: Sequence[Mapping[str, Any]],
    conclusion: Optional[str] = None,
) -> str:
    """A run for a notebook. Texts of the record are escaped."""
    title = f"{record['strategy']} on {_market(record)}, {record['start_date']} to {record['end_date']}"
    figures = "".join(
        f"<tr><td style='text-align:left'>{escape(name)}</td><td>{escape(value)}</td></tr>"
        for name, value in _figures(record["result"]["metrics"])
    )
    names = ("number", "side", "entry_time", "entry_price", "exit_time", "exit_price", "pnl", "exit_reason")
    head = "".join(f"<th>{name.replace('_', ' ')}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_cell(trade.get(name))}</td>" for name in names) + "</tr>" for trade in trades)
    count = record["result"]["metrics"].get("trades") or 0
    said = [*record["result"].get("notes", []), *_failed_checks(record["result"]), *([conclusion] if conclusion else [])]
    notes = "".join(f"<p>{escape(note)}</p>" for note in said)
    return (
        f"<div><b>{escape(title)}</b><div style='display:flex;flex-wrap:wrap;gap:1em'>"
        f"<table>{figures}</table><div>{_curve([point['equity'] for point in points], 'equity', 120)}"
        f"{_curve([-point['drawdown'] for point in points], 'drawdown', 50)}</div></div>{notes}"
        f"<details><summary>the first trades of {count:,}</summary><table><tr>{head}</tr>{body}</table></details></div>"
    )


def plot_run(run: Any) -> Any:
    """Equity, drawdown and each trade's result, one above the other, as a matplotlib figure.

    Raises:
        ImportError: matplotlib is not installed.
    """
    from matplotlib import pyplot  # Imported here: it takes a second, and not everybody has it.

    equity, trades = run.equity, run.trades
    times, values, falls = _columns(equity, ("timestamp", "equity", "drawdown"))
    exits, results = _columns(trades, ("exit_time", "pnl"))
    figure, (top, middle, bottom) = pyplot.subplots(3, 1, sharex=True, figsize=(10, 7), height_ratios=(3, 1, 1))
    top.plot(times, values, linewidth=1)
    top.set_ylabel("equity")
    top.set_title(f"{run.record['strategy']} on {_market(run.record)}")
    middle.fill_between(times, [-100 * fall for fall in falls], step="post", alpha=0.5, color="tab:red")
    middle.set_ylabel("drawdown, %")
    closed = [(time, pnl) for time, pnl in zip(exits, results) if not _is_missing(time)]
    if closed:
        ends, pnls = zip(*closed)
        bottom.scatter(ends, pnls, s=8, c=["tab:green" if pnl > 0 else "tab:red" for pnl in pnls])
    bottom.axhline(0, linewidth=0.5, color="gray")
    bottom.set_ylabel("trades' profit")
    for axes in (top, middle, bottom):
        axes.grid(alpha=0.3)
    figure.autofmt_xdate()
    figure.tight_layout()
    return figure


def _columns(table: Any, names: Tuple[str, ...]) -> List[List[Any]]:
    if isinstance(table, list):
        return [[_time(row[name]) if name.endswith(("timestamp", "_time")) else row[name] for row in table] for name in names]
    flat = table.reset_index() if table.index.name is not None else table
    return [flat[name].tolist() for name in names]


def _time(text: Any) -> Any:
    from datetime import datetime

    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


def _is_missing(time: Any) -> bool:
    # pandas' NaT differs from itself.
    return time is None or time != time


def _figures(metrics: Mapping[str, Any]) -> List[Tuple[str, str]]:
    rows = []
    for name in SHOWN:
        value = metrics.get(name)
        shown = "–" if value is None else f"{100 * value:,.2f} %" if name in PERCENT else _number(value)
        rows.append((name.replace("_", " "), shown))
    return rows


def _failed_checks(result: Mapping[str, Any]) -> List[str]:
    checks = result.get("integrity", {}).items()
    return [f"  FAILED {name}: {check['evidence']}" for name, check in checks if check["status"] == "failed"]


def _number(value: Any) -> str:
    if isinstance(value, float) and not value.is_integer():
        return f"{value:,.2f}"
    return f"{int(value):,}"


def _percent(figures: Any) -> str:
    value = None if figures is None else figures["total_return"]
    return "-" if value is None else f"{100 * value:.2f} %"


def _market(record: Mapping[str, Any]) -> str:
    asked = record.get("parameters") or {}
    scan = record.get("markets") or {}
    universe = asked.get("universe") or scan.get("universe")
    if universe:
        return universe if isinstance(universe, str) else universe["slug"]
    count = scan.get("count") or len(asked.get("instruments") or [])
    return f"{count} markets" if count > 1 else f"{record['symbol']}@{record['exchange']}"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return escape(f"{value:,.2f}" if isinstance(value, float) else str(value))


def _curve(values: Sequence[float], label: str, height: int, width: int = 520) -> str:
    low, high = min(values, default=0), max(values, default=0)
    span = (high - low) or 1
    step = width / max(len(values) - 1, 1)
    points = " ".join(f"{i * step:.1f},{height - 4 - (value - low) / span * (height - 8):.1f}" for i, value in enumerate(values))
    return (
        f"<svg role='img' aria-label='{label}' viewBox='0 0 {width} {height}' width='{width}' height='{height}' "
        f"style='display:block'><polyline points='{points}' fill='none' stroke='currentColor' stroke-width='1'/></svg>"
    )
