"""Buys when the close is above the one `candles` before, with a stop loss; closes when it is below."""


class Momentum(Strategy):
    candles: int = 20
    stop_loss: float = 0.1

    def __init__(self):
        self.warmup = self.candles + 1

    def decide(self, i, candles, account, orders):
        now, before = candles.close[i], candles.close[i - self.candles]
        if now > before and account.quantity == 0:
            orders.buy(stop_loss_fraction=self.stop_loss, tag="rise")
        elif now < before and account.quantity > 0:
            orders.close()
