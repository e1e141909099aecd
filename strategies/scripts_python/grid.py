"""Buys at evenly spaced prices below the start, and sells each purchase one step higher."""


class Grid(Strategy):
    levels: int = 10
    spacing: float = 0.01
    fraction: float = 0.95
    floor: float = 0.0

    def __init__(self):
        self.waiting, self.start, self.has_ended = {}, None, False

    def decide(self, i, candles, account, orders):
        if self.has_ended:
            return
        close = candles.close[i]
        if self.start is None:
            self.start = close
        if self.floor > 0 and close <= self.start * (1 - self.floor):
            self.has_ended = True
            orders.cancel_all()
            if account.quantity > 0:
                orders.close(1, "floor")
            return
        # A lower purchase has a lower target and is sold first, so open trades fill the grid from the top.
        held, working = len(orders.trades), orders.working
        if held + len(working) >= self.levels:
            return
        for level in range(held, self.levels):
            if self.waiting.get(level) in working:
                continue
            price = self.start * (1 - self.spacing * (level + 1))
            size = account.initial_balance * self.fraction / self.levels / price
            self.waiting[level] = orders.buy(limit_price=price, size=size, take_profit_fraction=self.spacing)
