"""Buys breakouts of the entry channel, leaves below the exit channel. The first breakout after a win is skipped."""


class TurtleAfterLoss(Strategy):
    entry: int = 20
    exit: int = 10
    risk: float = 0.02
    multiple: float = 2.0

    def __init__(self):
        self.warmup, self._before, self._won = max(self.entry, self.exit) + 2, nan, False

    def prepare(self, candles):
        self.upper = shift(highest(candles.high, self.entry), 1)
        self.lower = shift(lowest(candles.low, self.exit), 1)
        self.movement = atr(candles.high, candles.low, candles.close, self.entry)

    def decide(self, i, candles, account, orders):
        close = candles.close[i]
        if account.quantity != 0:
            return orders.close() if close < self.lower[i] else None
        if account.cash != self._before:  # The trade before is over: money tells how it went.
            self._won, self._before = account.cash > self._before, account.cash
        if crosses_above(candles.close, self.upper, i):
            stop_loss = close - self.multiple * self.movement[i]
            if not self._won and stop_loss > 0:
                orders.buy(stop_loss=stop_loss, size=self.risk, size_by="risk_fraction")
            self._won = False
