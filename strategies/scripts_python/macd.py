"""Follows the momentum of the MACD."""
from typing import Literal


class Macd(Strategy):
    fast: int = 12
    slow: int = 26
    signal: int = 9
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if self.fast >= self.slow:
            raise ValueError(f"fast must be less than slow: {self.fast} is not less than {self.slow}")
        self.warmup = self.slow + self.signal
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        lines = macd(candles.close, self.fast, self.slow, self.signal)
        self.first, self.second = lines.macd, lines.signal

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
