"""Buys weakness and sells strength, as Wilder's RSI measures them."""
from typing import Literal


class RsiReversion(Strategy):
    period: int = 14
    oversold: float = 30.0
    overbought: float = 70.0
    exit: float = 50.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if not self.oversold <= self.exit <= self.overbought:
            raise ValueError("exit must lie between oversold and overbought")
        self.warmup = self.period + 2
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        self.strength = rsi(candles.close, self.period)

    def decide(self, i, candles, account, orders):
        quantity, before, now = account.quantity, self.strength[i - 1], self.strength[i]
        if quantity <= 0 and before >= self.oversold and now < self.oversold:
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and before <= self.overbought and now > self.overbought:
            orders.sell(**self.guards)
        elif (quantity > 0 and now >= self.exit) or (quantity < 0 and now <= self.exit):
            # Repeated at each close until flat: volume may have held back a part.
            orders.cancel_all()
            orders.close()
