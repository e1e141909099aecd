"""Trades breakouts of the price channel with stop orders that wait at its edges."""
from typing import Literal


class WaitingStop:
    """One stop order that is kept working at a price. It is placed anew only when its price or size changes."""

    order, price, size = None, None, nan

    def __init__(self, side="sell"):
        self.side = side

    def is_at(self, orders, price):
        return self.order is not None and orders.is_working(self.order) and self.price == price

    def wait(self, orders, side=None, **options):
        is_working = self.order is not None and orders.is_working(self.order)
        price, size = options["stop_price"], options.get("size", nan)
        is_same = size == self.size or (size != size and self.size != self.size)
        if is_working and price == self.price and is_same:
            return
        self.price, self.size = price, size
        side = side or self.side
        if is_working:
            self.order = orders.replace(self.order, side, **options)
        else:
            self.order = orders.buy(**options) if side == "buy" else orders.sell(**options)

    def withdraw(self, orders):
        if self.order is not None:
            orders.cancel(self.order)
        self.order = None


class DonchianBreakout(Strategy):
    entry: int = 20
    exit: int = 10
    direction: Literal["long", "both"] = "both"
    # A level of 0 is none.
    take_profit_level: float = 0.0
    stop_loss_level: float = 0.0

    def __init__(self):
        self.warmup = max(self.entry, self.exit)
        self.buy, self.sell, self.leave = WaitingStop("buy"), WaitingStop("sell"), WaitingStop()
        self.guards = {
            "take_profit_fraction": self.take_profit_level or None,
            "stop_loss_fraction": self.stop_loss_level or None,
        }

    def prepare(self, candles):
        self.entries = donchian(candles.high, candles.low, self.entry)
        self.exits = donchian(candles.high, candles.low, self.exit)

    def decide(self, i, candles, account, orders):
        quantity = account.quantity
        if quantity == 0:
            self.leave.withdraw(orders)
            self.buy.wait(orders, stop_price=self.entries.upper[i], **self.guards)
            if self.direction == "both":
                self.sell.wait(orders, stop_price=self.entries.lower[i], **self.guards)
            return
        self.buy.withdraw(orders)
        self.sell.withdraw(orders)
        side, exits = ("sell", self.exits.lower) if quantity > 0 else ("buy", self.exits.upper)
        self.leave.wait(orders, side, stop_price=exits[i], size=abs(quantity), reduce_only=True)
