"""Buys for the same amount at fixed intervals, whatever the price, until the cash is spent."""


class Dca(Strategy):
    interval: int = 7
    fraction: float = 0.05
    # A level of 0 is none.
    take_profit_level: float = 0.0

    def __init__(self):
        self.next = 0

    def decide(self, i, candles, account, orders):
        if i < self.next:
            return
        self.next = i + self.interval
        amount = account.initial_balance * self.fraction
        # A rest of less than a hundredth of a purchase gives no order.
        if account.cash < amount * 0.01:
            return
        size = min(amount, account.cash)
        orders.buy(size=size, size_by="cash", take_profit_fraction=self.take_profit_level or None)
