"""The built-in sma-cross as a remote strategy.

Buys when the fast simple moving average of closes crosses above the slow one; sells, or goes short, when it crosses
below. Parameters, all optional: fast (10), slow (30), direction ("both" or "long"), takeProfitLevel and stopLossLevel
(fractions of the entry price; 0 is none). lookbackCandles must be at least `slow`.
"""

from hindcast import serve

# Every double is a whole multiple of 1 / UNITS, so sums of whole numbers of units are exact.
UNITS = 2**1074


def moving_average(values, period):
    """Mean of the last `period` values at each place; None while there are fewer.

    A rounding error would produce a false cross where prices stand still. So the sums are exact, and the division rounds once.
    """
    units = []
    for value in values:
        numerator, denominator = float(value).as_integer_ratio()
        units.append(numerator * (UNITS // denominator))
    means = [None] * len(values)
    total = 0
    for i, value in enumerate(units):
        total += value
        if i >= period:
            total -= units[i - period]
        if i >= period - 1:
            means[i] = total / (UNITS * period)
    return means


def crosses_above(a, b, i):
    """Whether `a` was below `b` one candle before place `i` and is above it there."""
    if i < 1 or a[i - 1] is None or b[i - 1] is None:
        return False
    return a[i - 1] < b[i - 1] and a[i] > b[i]


def decide(request):
    """The actions of each asked candle."""
    parameters = request["parameters"]
    closes = request["candles"]["close"]
    fast = moving_average(closes, parameters.get("fast", 10))
    slow = moving_average(closes, parameters.get("slow", 30))
    goes_short = parameters.get("direction", "both") == "both"
    guards = {}
    if parameters.get("takeProfitLevel", 0) > 0:
        guards["take_profit_fraction"] = parameters["takeProfitLevel"]
    if parameters.get("stopLossLevel", 0) > 0:
        guards["stop_loss_fraction"] = parameters["stopLossLevel"]

    decisions = []
    for i in range(len(closes) - request["asked"], len(closes)):
        if crosses_above(fast, slow, i):
            decisions.append([{"side": "buy", "when": "not_long", **guards}])
        elif crosses_above(slow, fast, i):
            if goes_short:
                decisions.append([{"side": "sell", "when": "not_short", **guards}])
            else:
                decisions.append([{"action": "close", "when": "long"}])
        else:
            decisions.append([])
    return decisions


if __name__ == "__main__":
    serve(decide)
