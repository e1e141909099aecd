"""Holds as much as gives the account a volatility of `target` a year. It trades where that differs by more than `band`."""


class VolatilityTarget(Strategy):
    period: int = 48
    target: float = 0.2
    most: float = 0.95
    band: float = 0.1

    def __init__(self):
        self.warmup = self.period + 1

    def prepare(self, candles):
        self.volatility = realised_volatility(candles.time, candles.close, self.period)

    def decide(self, i, candles, account, orders):
        close, now = candles.close[i], self.volatility[i]
        weight = min(self.most, self.target / now) if now > 0 else self.most
        change = weight - account.quantity * close / account.equity
        size = abs(change) * account.equity / close
        if change > self.band:
            orders.buy(size=size)
        elif change < -self.band:
            orders.sell(size=size, reduce_only=True)
