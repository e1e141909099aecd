"""Holds more of a quiet market and less of a volatile one."""


class VolatilityTarget(Strategy):
    period: int = 20
    target: float = 0.2
    exposure: float = 0.95
    rebalance: float = 0.1

    def __init__(self):
        if self.rebalance >= self.exposure:
            raise ValueError("rebalance must be less than exposure")
        self.warmup = self.period + 1

    def prepare(self, candles):
        self.volatility = realised_volatility(candles.time, candles.close, self.period)

    def decide(self, i, candles, account, orders):
        # A market order that volume has held back is part of the last difference.
        orders.cancel_all()
        price, volatility = candles.close[i], self.volatility[i]
        share = min(self.exposure, self.target / volatility) if volatility else self.exposure
        change = share * account.equity / price - account.quantity
        if abs(change) * price < self.rebalance * account.equity:
            return
        if change > 0:
            orders.buy(size=change)
        else:
            orders.sell(size=-change, reduce_only=True)
