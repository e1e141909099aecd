"""Follows the Supertrend line from side to side."""
from typing import Literal


class Supertrend(Strategy):
    period: int = 10
    multiple: float = 3.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        self.warmup = self.period + 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        columns = candles.high, candles.low, candles.close
        self.trend = supertrend(*columns, self.period, self.multiple).direction

    def decide(self, i, candles, account, orders):
        quantity, before, now = account.quantity, self.trend[i - 1], self.trend[i]
        if quantity <= 0 and now > 0 and before < 0:
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and now < 0 and before > 0:
            orders.sell(**self.guards)
        elif quantity * now < 0:
            orders.cancel_all()
            orders.close()
