"""Indicators of lists that a strategy fills itself in `decide`: their newest values, as script/realm/own_series.ts computes them."""
from collections import deque
from math import inf, sqrt

OWN_LISTS_MAX = LAYOUT["columnsMax"]


class Taken:
    """The values of a list that an indicator has taken."""

    __slots__ = ("count", "newest", "step")

    def __init__(self, step):
        self.count, self.newest, self.step = 0, nan, step


class OwnSeries:
    """Each call takes the values that are new, so a long list costs no more than a short one."""

    def __init__(self):
        # By the address of a list, which is kept, so that no other gets it.
        self.known = {}

    def newest(self, name, values, numbers):
        """The newest value; None: the indicator takes no lists."""
        make = STEPS.get(name)
        if make is None:
            return None
        if id(values) not in self.known:
            if len(self.known) == OWN_LISTS_MAX:
                raise ValueError(f"a strategy can have at most {OWN_LISTS_MAX} lists with indicators: keep each in self")
            self.known[id(values)] = (values, {})
        of_list = self.known[id(values)][1]
        key = (name, *numbers)
        taken = of_list.get(key)
        if taken is None or taken.count > len(values):
            taken = of_list[key] = Taken(make(*numbers))
            if not values:
                return make(*numbers)(nan)
        while taken.count < len(values):
            value = values[taken.count]
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise TypeError(f"{name}: a list of your own has numbers, and value {taken.count} is {type(value).__name__}")
            taken.newest = taken.step(float(value))
            taken.count += 1
        return taken.newest


def over_window(period, compute):
    """Computes from the last `period` values; NaN before there are so many."""
    values = deque(maxlen=period)

    def step(value):
        values.append(value)
        return compute(values) if len(values) == period else nan
    return step


def mean_of(values):
    """The mean, whose sum is rounded once, as that of the host's averages."""
    high = low = 0.0
    for value in reversed(values):
        total = high + value
        part = total - high
        low += (high - (total - part)) + (value - part)
        high = total
    count = len(values)
    quotient = high / count
    scaled = quotient * 134217729.0
    upper = scaled - (scaled - quotient)
    lower = quotient - upper
    return quotient + ((high - upper * count) - lower * count + low) / count


def deviation_of(values):
    mean = mean_of(values)
    squares = 0.0
    for value in values:
        squares += (value - mean) * (value - mean)
    return sqrt(squares / len(values))


def score_of(values):
    deviation = deviation_of(values)
    return 0.0 if deviation == 0 else (values[-1] - mean_of(values)) / deviation


def smoothing(period, weight):
    """An exponential average that begins with the mean of the first `period` values, behind those that are NaN."""
    first = []
    average = nan

    def step(value):
        nonlocal average
        if len(first) == period:
            average += weight * (value - average)
            return average
        if first or value == value:
            first.append(value)
        if len(first) == period:
            average = mean_of(first)
        return average
    return step


def make_ema(period):
    return smoothing(period, 2 / (period + 1))


def make_strength(period):
    rise, fall = smoothing(period, 1 / period), smoothing(period, 1 / period)
    before = nan

    def step(value):
        nonlocal before
        change, is_first, before = value - before, before != before, value
        if is_first:
            return nan
        up, down = rise(change if change > 0 else 0.0), fall(-change if change < 0 else 0.0)
        both = up + down
        return 50.0 if both == 0 else 100 * up / both
    return step


def make_macd(fast, slow, signal):
    quick, calm, average = make_ema(fast), make_ema(slow), make_ema(signal)

    def step(value):
        line = quick(value) - calm(value)
        mean = average(line)
        return line, mean, line - mean
    return step


def make_bands(period, width):
    mean, deviation = over_window(period, mean_of), over_window(period, deviation_of)

    def step(value):
        middle = mean(value)
        reach = width * deviation(value)
        return middle + reach, middle, middle - reach
    return step


STEPS = {
    "sma": lambda period: over_window(period, mean_of),
    "stddev": lambda period: over_window(period, deviation_of),
    "highest": lambda period: over_window(period, lambda values: max((v for v in values if v == v), default=-inf)),
    "lowest": lambda period: over_window(period, lambda values: min((v for v in values if v == v), default=inf)),
    "shift": lambda period: over_window(period + 1, lambda values: values[0]),
    "zscore": lambda period: over_window(period, score_of),
    "ema": make_ema,
    "wilder": lambda period: smoothing(period, 1 / period),
    "rsi": make_strength,
    "macd": make_macd,
    "bollinger": make_bands,
}
own_series = OwnSeries()
