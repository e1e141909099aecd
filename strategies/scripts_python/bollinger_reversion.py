"""Expects closes outside the Bollinger bands to return to their mean."""
from typing import Literal


class BollingerReversion(Strategy):
    period: int = 20
    width: float = 2.0
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
        self.bands = bollinger(candles.close, self.period, self.width)

    def decide(self, i, candles, account, orders):
        upper, middle, lower = self.bands
        quantity, before, now = account.quantity, candles.close[i - 1], candles.close[i]
        if quantity <= 0 and before >= lower[i - 1] and now < lower[i]:
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and before <= upper[i - 1] and now > upper[i]:
            orders.sell(**self.guards)
        elif (quantity > 0 and now >= middle[i]) or (quantity < 0 and now <= middle[i]):
            orders.cancel_all()
            orders.close()
