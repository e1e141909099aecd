"""Buys a first amount, then more at each step down, each `factor` times as large. Sells all above the average price."""


class GridWithAveraging(Strategy):
    first: float = 0.05
    step: float = 0.02
    factor: float = 1.5
    levels: int = 5
    target: float = 0.02

    def __init__(self):
        self._last = nan

    def decide(self, i, candles, account, orders):
        close, held = candles.close[i], len(orders.trades)
        if held > 0 and close >= account.entry_price * (1 + self.target):
            orders.close(1, "target")
        elif held < self.levels and (held == 0 or close <= self._last * (1 - self.step)):
            size = self.first * self.factor**held * account.initial_balance
            orders.buy(size=size, size_by="cash", tag=f"level {held + 1}")
            self._last = close
