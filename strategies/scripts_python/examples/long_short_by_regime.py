"""Long above a slow average that rises, short below one that falls, flat in between."""


class LongShortByRegime(Strategy):
    period: int = 100
    slope: int = 20
    share: float = 0.9

    def __init__(self):
        self.warmup = self.period + self.slope

    def prepare(self, candles):
        self.mean = sma(candles.close, self.period)
        self.before = shift(self.mean, self.slope)

    def decide(self, i, candles, account, orders):
        close, mean, before = candles.close[i], self.mean[i], self.before[i]
        is_up, is_down = close > mean > before, close < mean < before
        held = (account.quantity > 0) - (account.quantity < 0)
        if held == is_up - is_down:
            return
        if held != 0:
            orders.close(1, "regime")
        elif is_up:
            orders.buy(size=self.share, size_by="equity_fraction")
        else:
            orders.sell(size=self.share, size_by="equity_fraction")
