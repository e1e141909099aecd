"""The trials of bench/optimize_engine_bench.ts as a vectorised NumPy program: an SMA cross for each pair of periods.

optimize_numpy.py DATA FAST STEP COUNT SLOW STEP COUNT SCANS FEE WANTED [RESULT]

DATA holds candles as columns of doubles: their count, then time, open, high, low, close. WANTED is `all` for the metrics that a
trial keeps, or `few` for final equity, drawdown and Sharpe ratio alone. RESULT receives four doubles a trial: its last mark, its
closed trades, its largest drawdown and its Sharpe ratio. Prints each scan's milliseconds of processor time.

The rules: a cross is filled at the next open, the opposite position is closed, everything goes into the new one, and a fill costs a
share of its value. So the account after each cross is a product, and no loop goes over candles or trades. An average is computed
once. Left out in NumPy's favour: whole lots, orders, and the worst and best price of each trade.

A call of NumPy costs about a microsecond, whatever the length. So only the curve of equity is a trial's own work, in memory that all
trials share: the daily returns of all trials are one matrix, and their trades one column after the other.
"""
import sys
import time

import numpy as np

BALANCE, DAYS_A_YEAR, DAY_MS = 1e6, 365, 86_400_000


def sum_windows(values, length):
    """Sums of the last `length` values, NaN before there are so many."""
    sums = np.concatenate(([0.0], np.cumsum(values)))
    windows = np.full(len(values), np.nan)
    windows[length - 1:] = sums[length:] - sums[:-length]
    return windows


def trade(candles, fast, slow, first, fee, equity):
    """Writes the marks at each close; of the trades their fills, and of the closed ones pnl and return; the value of all fills."""
    close = candles["close"]
    above = fast[first - 1:] > slow[first - 1:]
    fills = np.flatnonzero(above[1:] != above[:-1]) + (first + 1)
    if fills[-1] == len(close):
        fills = fills[:-1]
    price = candles["open"][fills]
    side = np.where(above[fills - first], 1.0, -1.0)
    units = 1 / (price * (1 + fee))
    gain = side[:-1] * (price[1:] - price[:-1]) - fee * (price[:-1] + price[1:])
    account = np.empty(len(fills))
    account[0] = BALANCE
    np.multiply(BALANCE, np.cumprod(1 + units[:-1] * gain), out=account[1:])
    held = account * units
    quantity = side * held
    value = held * price
    lengths = np.empty(len(fills), int)
    lengths[:-1] = fills[1:] - fills[:-1]
    lengths[-1] = len(close) - fills[-1]
    equity[:fills[0]] = BALANCE
    marks = equity[fills[0]:]
    np.multiply(np.repeat(quantity, lengths), close[fills[0]:], out=marks)
    marks += np.repeat(account - quantity * price - fee * value, lengths)
    turned = value.sum() + held[:-1] @ price[1:]
    return fills, account[1:] - account[:-1], gain / price[:-1], turned


def measure_falls(equity, peak, falls):
    """Writes the highest mark so far, and the part of it by which each mark lies below."""
    np.maximum(equity, BALANCE, out=peak)
    np.maximum.accumulate(peak, out=peak)
    np.subtract(peak, equity, out=falls)
    falls /= peak


def measure_curve(equity, peak, falls):
    """Peak, mean mark, largest fall, mean depth, longest and mean length in candles, sum of squared falls."""
    under = np.empty(len(equity) + 2, bool)
    under[0] = under[-1] = False
    np.greater(falls, 0, out=under[1:-1])
    edges = np.flatnonzero(under[1:] != under[:-1])
    begins = edges[::2]
    lengths = edges[1::2] - begins
    depths = np.maximum.reduceat(falls, begins)
    return (
        peak[-1], equity.sum() / len(equity), depths.max(), depths.sum() / len(depths),
        lengths.max(), lengths.sum() / len(lengths), falls @ falls,
    )


def measure_account(curves, finals, firsts, turned, fee, candles):
    """The metrics of the curves of all trials."""
    close, days_each = candles["close"], candles["days_each"]
    peak, mean, fall, depth, length, mean_length, squares = np.array(curves).T
    total, years = finals / BALANCE - 1, len(close) * days_each / 365.25
    cagr = (1 + total) ** (1 / years) - 1
    return {
        "final_equity": finals, "peak_equity": peak, "total_return": total, "cagr": cagr, "max_drawdown": fall,
        "average_drawdown": depth, "max_drawdown_days": length * days_each, "average_drawdown_days": mean_length * days_each,
        "ulcer_index": np.sqrt(squares / len(close)), "calmar": cagr / fall, "recovery_factor": total / fall,
        "turnover": turned / mean, "fees_paid": turned * fee, "exposure": (len(close) - firsts) / len(close),
        "buy_hold_return": np.full(len(finals), close[-1] / close[0] - 1),
    }


def measure_days(marks, candles, wanted):
    """The metrics of daily returns, a row of marks a trial, the initial balance first."""
    returns = marks[:, 1:] / marks[:, :-1] - 1
    n, root = returns.shape[1], np.sqrt(DAYS_A_YEAR)
    mean = returns.sum(1) / n
    centred = returns - mean[:, None]
    squares = centred * centred
    second = squares.sum(1)
    deviation = np.sqrt(second / (n - 1))
    sharpe = mean / deviation * root
    if wanted == "few":
        return {"sharpe": sharpe}
    skew = n / ((n - 1) * (n - 2)) * np.einsum("ij,ij->i", squares, centred) / deviation ** 3
    heavy = n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) * np.einsum("ij,ij->i", squares, squares) / deviation ** 4
    losses = np.minimum(returns, 0)
    lost = losses.sum(1)
    ranked = np.sort(returns, axis=1)
    low, high = quantile(ranked, 0.05), quantile(ranked, 0.95)
    tail = ranked[:, :int((n - 1) * 0.05) + 1]
    own, other = returns[:, 1:], candles["day_returns"]
    own_mean, other_centred = own.sum(1) / (n - 1), other - other.mean()
    beta = own @ other_centred / (other_centred @ other_centred)
    beyond = own - other
    beyond_mean = beyond.sum(1) / (n - 1)
    beyond -= beyond_mean[:, None]
    tracking = np.sqrt(np.einsum("ij,ij->i", beyond, beyond) / (n - 2))
    return {
        "annual_return": (marks[:, -1] / BALANCE) ** (DAYS_A_YEAR / n) - 1, "annual_volatility": deviation * root,
        "sharpe": sharpe, "sortino": mean / np.sqrt(np.einsum("ij,ij->i", losses, losses) / n) * root,
        "omega": (mean * n - lost) / -lost, "skew": skew, "kurtosis": heavy - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3)),
        "var_95": -low, "cvar_95": -tail.sum(1) / tail.shape[1], "tail_ratio": np.abs(high) / np.abs(low),
        "best_day": ranked[:, -1], "worst_day": ranked[:, 0], "beta": beta,
        "alpha": (own_mean - beta * other.mean()) * DAYS_A_YEAR, "tracking_error": tracking * root,
        "information_ratio": beyond_mean / tracking * root, "treynor": own_mean * DAYS_A_YEAR / beta,
    }


def quantile(ranked, fraction):
    position = (ranked.shape[1] - 1) * fraction
    below = int(position)
    return ranked[:, below] + (position - below) * (ranked[:, below + 1] - ranked[:, below])


def measure_trades(trades, candles):
    """The metrics of closed trades, of which each trial has one or more: theirs begin at `starts` of the joined columns."""
    all_fills, all_pnl, all_returns = zip(*trades)
    pnl, returns = np.concatenate(all_pnl), np.concatenate(all_returns)
    days = np.concatenate([fills[1:] - fills[:-1] for fills in all_fills]) * candles["days_each"]
    counts = np.array([len(each) for each in all_pnl])
    starts = np.cumsum(counts) - counts

    def add(values):
        return np.add.reduceat(values, starts)

    won, lost = pnl > 0, pnl < 0
    wins, losses = add(won.astype(float)), add(lost.astype(float))
    gains, costs = add(np.where(won, pnl, 0)), add(np.where(lost, pnl, 0))
    win, loss, rate = gains / wins, costs / losses, wins / counts
    mean = add(pnl) / counts
    centred = pnl - np.repeat(mean, counts)
    # A series of wins or losses ends where the sign changes, or the trial.
    changes = np.empty(len(pnl), bool)
    changes[1:] = won[1:] != won[:-1]
    changes[starts] = True
    series = np.flatnonzero(changes)
    lengths = np.append(series[1:], len(pnl)) - series
    first_series = np.searchsorted(series, starts)

    def longest(kept):
        return np.maximum.reduceat(np.where(kept[series], lengths, 0), first_series)

    return {
        "trades": counts, "win_rate": rate, "profit_factor": gains / -costs, "expectancy": mean, "payoff_ratio": win / -loss,
        "average_trade": add(returns) / counts, "best_trade": np.maximum.reduceat(returns, starts),
        "worst_trade": np.minimum.reduceat(returns, starts), "average_win": win, "average_loss": loss,
        "average_win_return": add(np.where(won, returns, 0)) / wins,
        "average_loss_return": add(np.where(lost, returns, 0)) / losses, "average_trade_days": add(days) / counts,
        "max_trade_days": np.maximum.reduceat(days, starts), "max_consecutive_wins": longest(won),
        "max_consecutive_losses": longest(lost), "sqn": np.sqrt(counts) * mean / np.sqrt(add(centred * centred) / (counts - 1)),
        "kelly": rate - (1 - rate) * -loss / win,
    }


def scan(candles, periods, fee, wanted):
    """The metrics of all trials, a column each."""
    means = {}
    for period in {period for pair in periods for period in pair}:
        means[period] = sum_windows(candles["close"], period) / period
    equity, peak, falls = np.empty((3, len(candles["close"])))
    marks = np.empty((len(periods), len(candles["day_ends"]) + 1))
    marks[:, 0] = BALANCE
    finals, deepest, turned = np.empty((3, len(periods)))
    curves, trades = [], []
    for k, (fast, slow) in enumerate(periods):
        fills, pnl, returns, turned[k] = trade(candles, means[fast], means[slow], slow, fee, equity)
        measure_falls(equity, peak, falls)
        equity.take(candles["day_ends"], out=marks[k, 1:])
        finals[k] = equity[-1]
        trades.append((fills, pnl, returns))
        if wanted == "few":
            deepest[k] = falls.max()
        else:
            curves.append(measure_curve(equity, peak, falls))
    days = measure_days(marks, candles, wanted)
    if wanted == "few":
        return {"final_equity": finals, "trades": np.array([len(pnl) for _, pnl, _ in trades]), "max_drawdown": deepest, **days}
    firsts = np.array([fills[0] for fills, _, _ in trades])
    return {**measure_account(curves, finals, firsts, turned, fee, candles), **days, **measure_trades(trades, candles)}


def read_candles(path):
    data = np.fromfile(path)
    candles = dict(zip(("time", "open", "high", "low", "close"), data[1:].reshape(5, -1)))
    day = candles["time"] // DAY_MS
    candles["day_ends"] = np.append(np.flatnonzero(np.diff(day)), len(day) - 1)
    closes = candles["close"][candles["day_ends"]]
    candles["day_returns"] = closes[1:] / closes[:-1] - 1
    candles["days_each"] = (candles["time"][1] - candles["time"][0]) / DAY_MS
    return candles


def main(data, *rest):
    fast, fast_step, fasts, slow, slow_step, slows, scans = (int(value) for value in rest[:7])
    fee, wanted = float(rest[7]), rest[8]
    candles = read_candles(data)
    periods = [(fast + f * fast_step, slow + s * slow_step) for f in range(fasts) for s in range(slows)]
    for _ in range(scans):
        begun = time.process_time()
        metrics = scan(candles, periods, fee, wanted)
        print(f"{(time.process_time() - begun) * 1000:.6f}")
    if len(rest) > 9:
        names = ("final_equity", "trades", "max_drawdown", "sharpe")
        np.array([metrics[name] for name in names], float).T.tofile(rest[9])


if __name__ == "__main__":
    main(*sys.argv[1:])
