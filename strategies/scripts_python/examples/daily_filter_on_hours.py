"""Trades a cross of hours only while the last whole day closed above the mean of `days` daily closes."""


class DailyFilterOnHours(Strategy):
    fast: int = 8
    slow: int = 24
    days: int = 20

    def __init__(self):
        self._closes, self._is_up = [], False

    def prepare(self, candles):
        self.quick, self.calm = ema(candles.close, self.fast), ema(candles.close, self.slow)
        self.candle = trading_day(candles.time).candle

    def decide(self, i, candles, account, orders):
        if i > 0 and self.candle[i] == 0:
            close = candles.close[i - 1]
            self._closes = [*self._closes, close][-self.days:]
            mean = 0.0
            for each in self._closes:
                mean += each
            self._is_up = len(self._closes) == self.days and close > mean / self.days
        if account.quantity == 0 and self._is_up and crosses_above(self.quick, self.calm, i):
            orders.buy()
        elif account.quantity > 0 and (not self._is_up or crosses_below(self.quick, self.calm, i)):
            orders.close()
