"""Buys where the fast average crosses above the slow one. A stop follows the best price `multiple` average true ranges away."""


class AtrTrailingCross(Strategy):
    fast: int = 10
    slow: int = 30
    period: int = 14
    multiple: float = 3.0

    def __init__(self):
        self.warmup = max(self.fast, self.slow, self.period) + 1

    def prepare(self, candles):
        self.quick, self.calm = sma(candles.close, self.fast), sma(candles.close, self.slow)
        self.movement = atr(candles.high, candles.low, candles.close, self.period)

    def decide(self, i, candles, account, orders):
        if account.quantity == 0 and crosses_above(self.quick, self.calm, i):
            orders.buy(trail_distance=self.multiple * self.movement[i])
        elif account.quantity > 0 and crosses_below(self.quick, self.calm, i):
            orders.close()
