"""Expects closes that are unusual among the last ones to become usual again."""
from typing import Literal


class ZscoreReversion(Strategy):
    period: int = 30
    entry: float = 2.0
    exit: float = 0.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if self.exit >= self.entry:
            raise ValueError(f"exit must be less than entry: {self.exit} is not less than {self.entry}")
        self.warmup = self.period + 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        self.score = zscore(candles.close, self.period)

    def decide(self, i, candles, account, orders):
        quantity, before, now = account.quantity, self.score[i - 1], self.score[i]
        if quantity <= 0 and before >= -self.entry and now < -self.entry:
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and before <= self.entry and now > self.entry:
            orders.sell(**self.guards)
        elif (quantity > 0 and now >= -self.exit) or (quantity < 0 and now <= self.exit):
            orders.cancel_all()
            orders.close()
