"""Trades the breakout of the day's first candles, and is out by the end of the day."""
from typing import Literal


class OpeningRangeBreakout(Strategy):
    range: int = 2
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0

    def prepare(self, candles):
        self.day = trading_day(candles.time)
        self.edges = opening_range(candles.high, candles.low, self.day.candle, self.range)

    def decide(self, i, candles, account, orders):
        candle = self.day.candle[i]
        # An order of the candle before the last one is filled at the open of the last.
        is_late = candle >= self.day.length[i] - 2
        is_complete = candle == self.range - 1
        if is_late or is_complete or candle < self.range or account.quantity != 0:
            orders.cancel_all()
        if account.quantity != 0 and (is_late or candle < self.range):
            orders.close()
        if is_late or not is_complete:
            return
        upper, lower = self.edges.upper[i], self.edges.lower[i]
        if not upper > lower:
            return
        take_profit = self.take_profit_level or None
        orders.buy(stop_price=upper, stop_loss=lower, take_profit_fraction=take_profit)
        if self.direction == "both":
            orders.sell(stop_price=lower, stop_loss=upper, take_profit_fraction=take_profit)
