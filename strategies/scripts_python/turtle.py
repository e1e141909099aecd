"""Trades breakouts as the Turtles did: in units of equal risk, with more of them as the market moves on."""
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


class Turtle(Strategy):
    entry: int = 20
    exit: int = 10
    range: int = 20
    units: int = 4
    step: float = 0.5
    stop: float = 2.0
    risk: float = 0.01
    exposure: float = 0.95
    direction: Literal["long", "both"] = "both"

    def __init__(self):
        self.warmup = max(self.entry, self.exit, self.range)
        self.buy, self.sell, self.leave = WaitingStop("buy"), WaitingStop("sell"), WaitingStop()
        # The average true range of the position, as it was at its first close; None without one.
        self.movement = None

    def prepare(self, candles):
        self.entries = donchian(candles.high, candles.low, self.entry)
        self.exits = donchian(candles.high, candles.low, self.exit)
        self.movements = atr(candles.high, candles.low, candles.close, self.range)

    def wait_for(self, order, orders, price, movement, size):
        if order.is_at(orders, price):
            return
        stop_loss = price - self.stop * movement if order is self.buy else price + self.stop * movement
        if price > 0 and stop_loss > 0:
            order.wait(orders, stop_price=price, stop_loss=stop_loss, size=size)
        else:
            order.withdraw(orders)

    def decide(self, i, candles, account, orders):
        if account.quantity == 0:
            self.enter(i, account, orders)
        else:
            self.hold(i, candles.close[i], account, orders)

    def enter(self, i, account, orders):
        self.leave.withdraw(orders)
        self.movement, now = None, self.movements[i]
        # Without any movement there is no risk to size by.
        if not now > 0:
            return
        upper, lower = self.entries.upper[i], self.entries.lower[i]
        unit = min(self.risk * account.equity / now, self.exposure * account.equity / (self.units * upper))
        self.wait_for(self.buy, orders, upper, now, unit)
        if self.direction == "both":
            self.wait_for(self.sell, orders, lower, now, unit)

    def hold(self, i, close, account, orders):
        quantity = account.quantity
        if self.movement is None:
            self.movement = self.movements[i]
        side, own, other = (1, self.buy, self.sell) if quantity > 0 else (-1, self.sell, self.buy)
        other.withdraw(orders)
        trades = orders.trades
        newest = trades[-1].entry_price
        for trade in trades:
            orders.protect(trade.trade, stop_loss=newest - side * self.stop * self.movement)
        price = newest + side * self.step * self.movement
        # After a gap, earlier units may have cost more than their share, and the next one be due already.
        is_paid = (abs(quantity) + own.size) * max(price, close) <= max(1, self.exposure) * account.equity
        if len(trades) < self.units and is_paid:
            self.wait_for(own, orders, price, self.movement, own.size)
        else:
            own.withdraw(orders)
        exit_side, exits = ("sell", self.exits.lower) if quantity > 0 else ("buy", self.exits.upper)
        self.leave.wait(orders, exit_side, stop_price=exits[i], size=abs(quantity), reduce_only=True)
