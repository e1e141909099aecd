"""Follows the trend of two simple moving averages."""
from typing import Literal


class SmaCross(Strategy):
    fast: int = 10
    slow: int = 30
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if self.fast >= self.slow:
            raise ValueError(f"fast must be less than slow: {self.fast} is not less than {self.slow}")
        self.warmup = self.slow + 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        self.first = sma(candles.close, self.fast)
        self.second = sma(candles.close, self.slow)

    def decide(self, i, candles, account, orders):
        rises = crosses_above(self.first, self.second, i)
        if not rises and not crosses_below(self.first, self.second, i):
            return
        orders.cancel_all()
        if rises and account.quantity <= 0:
            orders.buy(**self.guards)
        elif not rises and self.direction == "both" and account.quantity >= 0:
            orders.sell(**self.guards)
        elif not rises and account.quantity > 0:
            orders.close()
