"""The trials of bench/optimize_engine_bench.ts as a vectorised NumPy program: an SMA cross for each pair of periods.

optimize_numpy.py DATA FAST STEP COUNT SLOW STEP COUNT SCANS FEE WANTED [RESULT]

DATA holds candles as columns of doubles: their count, then time, open, high, low, close. WANTED is `all` for the metrics that a
trial keeps, or `few` for final equity, drawdown and Sharpe ratio alone. RESULT receives four doubles a trial: its last mark, its
closed trades, its largest drawdown and its Sharpe ratio. Prints each scan's milliseconds of processor time.

The rules: a cross is filled at the next open, the opposite position is closed, everything goes into the new one, and a fill costs a
share of its value. So the account after each cross is a product, and no loop goes over candles or trades. An average is computed
once. Left out in NumPy's favour: whole lots, orders, and the worst and best price of each trade.
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


def trade(candles, fast, slow, first, fee):
    """Marks at each close; of the trades their fills, and of the closed ones pnl and return; the value of all fills."""
    above = fast[first - 1:] > slow[first - 1:]
    fills = np.flatnonzero(above[1:] != above[:-1]) + first + 1
    fills = fills[fills < len(candles["close"])]
    price = candles["open"][fills]
    side = np.where(above[fills - first], 1.0, -1.0)
    units = 1 / (price * (1 + fee))
    gain = side[:-1] * np.diff(price) - fee * (price[:-1] + price[1:])
    account = BALANCE * np.concatenate(([1.0], np.cumprod(1 + units[:-1] * gain)))
    quantity = side * account * units
    cash = account - quantity * price - fee * np.abs(quantity) * price
    lengths = np.diff(np.concatenate((fills, [len(candles["close"])])))
    equity = np.empty(len(candles["close"]))
    equity[:fills[0]] = BALANCE
    equity[fills[0]:] = np.repeat(cash, lengths) + np.repeat(quantity, lengths) * candles["close"][fills[0]:]
    held = np.abs(quantity)
    turned = (held * price).sum() + (held[:-1] * price[1:]).sum()
    return equity, fills, np.diff(account), gain / price[:-1], turned


def measure_falls(equity):
    peak = np.maximum.accumulate(np.maximum(equity, BALANCE))
    return peak, (peak - equity) / peak


def measure_few(candles, equity, pnl):
    _, falls = measure_falls(equity)
    marks = np.concatenate(([BALANCE], equity[candles["day_ends"]]))
    returns = marks[1:] / marks[:-1] - 1
    sharpe = returns.mean() / returns.std(ddof=1) * np.sqrt(DAYS_A_YEAR)
    return {"final_equity": equity[-1], "trades": len(pnl), "max_drawdown": falls.max(), "sharpe": sharpe}


def measure_account(equity, candles, fills, turned, fee):
    peak, falls = measure_falls(equity)
    under = np.concatenate(([False], falls > 0, [False]))
    edges = np.flatnonzero(under[1:] != under[:-1])
    begins, ends = edges[::2], edges[1::2]
    lengths = (ends - begins) * candles["days_each"]
    depths = np.maximum.reduceat(falls, begins) if len(begins) else np.zeros(1)
    total, years = equity[-1] / BALANCE - 1, len(equity) * candles["days_each"] / 365.25
    cagr = (1 + total) ** (1 / years) - 1
    return {
        "final_equity": equity[-1], "peak_equity": peak[-1], "total_return": total, "cagr": cagr,
        "max_drawdown": falls.max(), "average_drawdown": depths.mean(), "max_drawdown_days": lengths.max(initial=0),
        "average_drawdown_days": lengths.mean(), "ulcer_index": np.sqrt(np.mean(falls * falls)),
        "calmar": cagr / falls.max(), "recovery_factor": total / falls.max(), "turnover": turned / equity.mean(),
        "fees_paid": turned * fee, "exposure": (len(equity) - fills[0]) / len(equity),
        "buy_hold_return": candles["close"][-1] / candles["close"][0] - 1,
    }


def measure_days(equity, candles):
    marks = np.concatenate(([BALANCE], equity[candles["day_ends"]]))
    returns = marks[1:] / marks[:-1] - 1
    n, mean, deviation = len(returns), returns.mean(), returns.std(ddof=1)
    root = np.sqrt(DAYS_A_YEAR)
    centred = returns - mean
    squares = centred * centred
    skew = n / ((n - 1) * (n - 2)) * (squares * centred).sum() / deviation ** 3
    heavy = n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) * (squares * squares).sum() / deviation ** 4
    kurtosis = heavy - 3 * (n - 1) ** 2 / ((n - 2) * (n - 3))
    losses = np.minimum(returns, 0)
    low, high = np.quantile(returns, [0.05, 0.95])
    own, other = returns[1:], candles["day_returns"]
    beta = np.cov(own, other)[0, 1] / other.var(ddof=1)
    beyond = own - other
    tracking = beyond.std(ddof=1)
    return {
        "annual_return": (equity[-1] / BALANCE) ** (DAYS_A_YEAR / n) - 1, "annual_volatility": deviation * root,
        "sharpe": mean / deviation * root, "sortino": mean / np.sqrt(np.mean(losses * losses)) * root,
        "omega": np.maximum(returns, 0).sum() / -losses.sum(), "skew": skew, "kurtosis": kurtosis,
        "var_95": -low, "cvar_95": -returns[returns <= low].mean(), "tail_ratio": abs(high) / abs(low),
        "best_day": returns.max(), "worst_day": returns.min(), "beta": beta,
        "alpha": (own.mean() - beta * other.mean()) * DAYS_A_YEAR, "tracking_error": tracking * root,
        "information_ratio": beyond.mean() / tracking * root, "treynor": own.mean() * DAYS_A_YEAR / beta,
    }


def measure_trades(fills, pnl, returns, candles):
    won, lost = pnl > 0, pnl < 0
    days = np.diff(fills) * candles["days_each"]
    streaks = np.diff(np.concatenate(([0], np.flatnonzero(won[1:] != won[:-1]) + 1, [len(won)])))
    wins, losses = streaks[0 if won[0] else 1::2], streaks[1 if won[0] else 0::2]
    rate, win, loss = won.mean(), pnl[won].mean(), pnl[lost].mean()
    return {
        "trades": len(pnl), "win_rate": rate, "profit_factor": pnl[won].sum() / -pnl[lost].sum(),
        "expectancy": pnl.mean(), "payoff_ratio": win / -loss, "average_trade": returns.mean(),
        "best_trade": returns.max(), "worst_trade": returns.min(), "average_win": win, "average_loss": loss,
        "average_win_return": returns[won].mean(), "average_loss_return": returns[lost].mean(),
        "average_trade_days": days.mean(), "max_trade_days": days.max(),
        "max_consecutive_wins": wins.max(initial=0), "max_consecutive_losses": losses.max(initial=0),
        "sqn": np.sqrt(len(pnl)) * pnl.mean() / pnl.std(ddof=1), "kelly": rate - (1 - rate) * -loss / win,
    }


def scan(candles, periods, fee, wanted):
    means = {}
    for period in {period for pair in periods for period in pair}:
        means[period] = sum_windows(candles["close"], period) / period
    trials = []
    for fast, slow in periods:
        equity, fills, pnl, returns, turned = trade(candles, means[fast], means[slow], slow, fee)
        if wanted == "few":
            trials.append(measure_few(candles, equity, pnl))
            continue
        trials.append({
            **measure_account(equity, candles, fills, turned, fee),
            **measure_days(equity, candles),
            **measure_trades(fills, pnl, returns, candles),
        })
    return trials


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
        trials = scan(candles, periods, fee, wanted)
        print(f"{(time.process_time() - begun) * 1000:.6f}")
    if len(rest) > 9:
        names = ("final_equity", "trades", "max_drawdown", "sharpe")
        np.array([[trial[name] for name in names] for trial in trials]).tofile(rest[9])


main(*sys.argv[1:])
