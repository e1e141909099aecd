"""Buys what has fallen, sells it once it has recovered, and after `hold` candles at the latest."""


class RsiTimeExit(Strategy):
    period: int = 14
    below: float = 30.0
    above: float = 55.0
    hold: int = 24

    def __init__(self):
        self.warmup = self.period + 1

    def prepare(self, candles):
        self.strength = rsi(candles.close, self.period)

    def decide(self, i, candles, account, orders):
        if account.quantity == 0 and self.strength[i] < self.below:
            orders.buy(time_stop_candles=self.hold)
        elif account.quantity > 0 and self.strength[i] > self.above:
            orders.close(1, "recovered")
