"""Enters with the trend and leaves by a stop that trails by the market's range."""
from typing import Literal


class AtrTrend(Strategy):
    trend: int = 50
    atr: int = 14
    multiple: float = 3.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0

    def __init__(self):
        self.warmup = max(self.trend + 1, self.atr)

    def prepare(self, candles):
        self.line = ema(candles.close, self.trend)
        self.movement = atr(candles.high, candles.low, candles.close, self.atr)

    def decide(self, i, candles, account, orders):
        if account.quantity != 0 or not self.movement[i] > 0:
            return
        guards = {
            "trail_distance": self.multiple * self.movement[i],
            "take_profit_fraction": self.take_profit_level or None,
        }
        if crosses_above(candles.close, self.line, i):
            orders.buy(**guards)
        elif self.direction == "both" and crosses_below(candles.close, self.line, i):
            orders.sell(**guards)
