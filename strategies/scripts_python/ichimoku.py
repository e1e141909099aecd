"""Follows the trend of the Ichimoku lines outside of the cloud."""
from typing import Literal


class Ichimoku(Strategy):
    conversion: int = 9
    base: int = 26
    span: int = 52
    displacement: int = 26
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if self.conversion >= self.base:
            raise ValueError(f"conversion must be less than base: {self.conversion} is not less than {self.base}")
        self.warmup = max(self.base, self.span) + self.displacement
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        periods = self.conversion, self.base, self.span, self.displacement
        self.lines = ichimoku(candles.high, candles.low, *periods)

    def rises(self, i, close):
        fast, slow, a, b = self.lines
        return fast[i] > slow[i] and close[i] > max(a[i], b[i])

    def falls(self, i, close):
        fast, slow, a, b = self.lines
        return fast[i] < slow[i] and close[i] < min(a[i], b[i])

    def decide(self, i, candles, account, orders):
        quantity, close = account.quantity, candles.close
        fast, slow = self.lines.conversion[i], self.lines.base[i]
        if quantity <= 0 and self.rises(i, close) and not self.rises(i - 1, close):
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and self.falls(i, close) and not self.falls(i - 1, close):
            orders.sell(**self.guards)
        elif (quantity > 0 and fast < slow) or (quantity < 0 and fast > slow):
            orders.cancel_all()
            orders.close()
