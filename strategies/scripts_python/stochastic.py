"""Trades the turns of the stochastic oscillator at its extremes."""
from typing import Literal


class Stochastic(Strategy):
    period: int = 14
    slowing: int = 3
    signal: int = 3
    oversold: float = 20.0
    overbought: float = 80.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        if self.oversold > self.overbought:
            raise ValueError("oversold must not be above overbought")
        self.warmup = self.period + self.slowing + self.signal - 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        periods = self.period, self.slowing, self.signal
        self.k, self.d = stochastic(candles.high, candles.low, candles.close, *periods)

    def decide(self, i, candles, account, orders):
        quantity, k, d = account.quantity, self.k, self.d
        turns_up = d[i] < self.oversold and crosses_above(k, d, i)
        turns_down = d[i] > self.overbought and crosses_below(k, d, i)
        if quantity <= 0 and turns_up:
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and turns_down:
            orders.sell(**self.guards)
        elif quantity > 0 and turns_down:
            orders.cancel_all()
            orders.close()
