"""Buys below the lower band. Sells half at the middle, where the stop moves to the entry, and the rest at the upper band."""


class BollingerPartialTargets(Strategy):
    period: int = 20
    width: float = 2.0
    stop: float = 0.05

    def __init__(self):
        self.warmup, self._half = self.period, False

    def prepare(self, candles):
        self.bands = bollinger(candles.close, self.period, self.width)

    def decide(self, i, candles, account, orders):
        close = candles.close[i]
        if not orders.trades:
            self._half = False
            if close < self.bands.lower[i]:
                orders.buy(stop_loss_fraction=self.stop)
            return
        trade = orders.trades[0]
        if close >= self.bands.upper[i]:
            orders.close(1, "upper band")
        elif not self._half and close >= self.bands.middle[i] and close > trade.entry_price:
            self._half = True
            orders.close_trade(trade.trade, 0.5, "middle band")
            orders.protect(trade.trade, stop_loss=trade.entry_price)
