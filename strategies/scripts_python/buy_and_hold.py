"""Buys once, at the first decision, and never sells."""


class BuyAndHold(Strategy):
    _has_ordered = False

    def decide(self, i, candles, account, orders):
        if not self._has_ordered:
            orders.buy()
        self._has_ordered = True
