"""Follows the side of Wilder's directional movement while the ADX calls it a trend."""
from typing import Literal


class AdxTrend(Strategy):
    period: int = 14
    threshold: float = 25.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        self.warmup = 2 * self.period + 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        self.adx, self.plus, self.minus = adx(candles.high, candles.low, candles.close, self.period)

    def rises(self, i):
        return self.adx[i] >= self.threshold and self.plus[i] > self.minus[i]

    def falls(self, i):
        return self.adx[i] >= self.threshold and self.minus[i] > self.plus[i]

    def decide(self, i, candles, account, orders):
        quantity, plus, minus = account.quantity, self.plus[i], self.minus[i]
        if quantity <= 0 and self.rises(i) and not self.rises(i - 1):
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and self.falls(i) and not self.falls(i - 1):
            orders.sell(**self.guards)
        elif (quantity > 0 and minus > plus) or (quantity < 0 and plus > minus):
            # Repeated at each close until flat: volume may have held back a part.
            orders.cancel_all()
            orders.close()
