"""More of quiet instruments and less of volatile ones."""
import math
from typing import Literal


def total(values):
    """The sum, value after value: `sum` rounds it once, and other languages do not."""
    result = 0.0
    for value in values:
        result += value
    return result


class InverseVolatility(Portfolio):
    lookback: int = 60
    every: Literal["day", "week", "month", "quarter"] = "month"
    exposure: float = 1.0
    min_trade: float = 0.0

    def __init__(self):
        self.warmup = self.lookback + 1

    def weigh(self, market):
        close = market.close[-self.lookback - 1:]
        returns = [after / before - 1 for before, after in zip(close, close[1:])]
        mean = total(returns) / self.lookback
        squares = total((value - mean) * (value - mean) for value in returns)
        volatility = math.sqrt(squares / (self.lookback - 1))
        return 1 / volatility if volatility > 0 else 0.0

    def decide(self, now, markets, account, orders):
        members = [market for market in markets if market.is_member and market.i >= self.lookback]
        weights = [self.weigh(market) for market in members]
        whole = total(weights)
        wanted = {m.id: self.exposure * weight / whole if whole > 0 else 0.0 for m, weight in zip(members, weights)}
        orders.target(wanted, min_trade=self.min_trade)
