"""Trades the range of the first `candles` after 09:30 in New York, on a market without closing hours; out by 16:00.

For candles of 30 minutes or less."""


class NewYorkOpeningRange(Strategy):
    candles: int = 2

    def __init__(self):
        self._is_traded = False

    def prepare(self, candles):
        clock = local(candles.time, "America/New_York")
        self.minutes = add(multiply(clock.hour, 60), clock.minute)
        self.since = subtract(self.minutes, 9 * 60 + 30)
        self.edges = opening_range(candles.high, candles.low, self.since, self.candles)

    def decide(self, i, candles, account, orders):
        close, upper, lower = candles.close[i], self.edges.upper[i], self.edges.lower[i]
        if self.since[i] == 0:
            self._is_traded = False
        if self.minutes[i] >= 16 * 60 or self.since[i] < 0:
            if account.quantity != 0:
                orders.close(1, "end of day")
        elif not self._is_traded and account.quantity == 0:
            if close > upper:
                orders.buy(stop_loss=lower)
            if close < lower:
                orders.sell(stop_loss=upper)
            self._is_traded = close > upper or close < lower
