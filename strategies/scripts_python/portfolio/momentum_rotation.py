"""The winners of the last months, in equal parts."""
from typing import Literal


class MomentumRotation(Portfolio):
    top: int = 3
    lookback: int = 126
    skip: int = 0
    filter: float = 0.0
    every: Literal["day", "week", "month", "quarter"] = "month"
    exposure: float = 1.0
    min_trade: float = 0.0

    def __init__(self):
        if self.skip >= self.lookback:
            raise ValueError(f"skip must be less than lookback: {self.skip} is not less than {self.lookback}")
        self.warmup = self.lookback + 1

    def decide(self, now, markets, account, orders):
        past = {}
        for market in markets:
            i, close = market.i, market.close
            if market.is_member and i >= self.lookback:
                past[market.id] = close[i - self.skip] / close[i - self.lookback] - 1
        ranked = sorted((name for name in past if past[name] >= self.filter), key=past.get, reverse=True)
        orders.target({name: self.exposure / self.top for name in ranked[: self.top]}, min_trade=self.min_trade)
