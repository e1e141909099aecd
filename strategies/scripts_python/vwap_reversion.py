"""Expects closes far from the volume-weighted average price to return to it."""
from typing import Literal


class VwapReversion(Strategy):
    anchor: Literal["rolling", "session"] = "rolling"
    period: int = 20
    width: float = 2.0
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        self.warmup = 3 if self.anchor == "session" else self.period + 1
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        columns = candles.high, candles.low, candles.close, candles.volume
        if self.anchor == "session":
            self.mean, self.deviation = anchored_vwap(*columns, trading_day(candles.time).candle)
        else:
            self.mean, self.deviation = vwap(*columns, self.period)

    # The first candle of a day has no deviation, and its close is no signal.
    def is_low(self, i, close):
        return self.deviation[i] > 0 and close[i] < self.mean[i] - self.width * self.deviation[i]

    def is_high(self, i, close):
        return self.deviation[i] > 0 and close[i] > self.mean[i] + self.width * self.deviation[i]

    def decide(self, i, candles, account, orders):
        quantity, close, mean = account.quantity, candles.close, self.mean[i]
        if quantity <= 0 and self.is_low(i, close) and not self.is_low(i - 1, close):
            orders.buy(**self.guards)
        elif self.direction == "both" and quantity >= 0 and self.is_high(i, close) and not self.is_high(i - 1, close):
            orders.sell(**self.guards)
        elif (quantity > 0 and close[i] >= mean) or (quantity < 0 and close[i] <= mean):
            orders.cancel_all()
            orders.close()
