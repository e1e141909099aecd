"""The trades and the fills of a run, as a strategy sees them."""
from collections import namedtuple

TRADE = LAYOUT["trade"]
DETAIL = LAYOUT["detail"]
FILL = LAYOUT["fill"]
EXIT_REASONS = LAYOUT["exitReasons"]
DETAILS = ("order", "tag", "entry_index", "entry_time", "stop_loss", "take_profit", "trailing_stop")
Fill = namedtuple("Fill", "order trade side quantity price fee index time tag exit_reason")
ClosedTrade = namedtuple(
    "ClosedTrade",
    "trade order tag quantity entry_index entry_time entry_price exit_index exit_time exit_price exit_reason profit fees "
    "best_price worst_price",
)
# Of a strategy that decides on many markets: with the id of the market.
MarketFill = namedtuple("MarketFill", (*Fill._fields, "market"))
MarketTrade = namedtuple("MarketTrade", (*ClosedTrade._fields, "market"))


class Row:
    """The numbers of a row of a table."""

    __slots__ = ("_tables", "_at", "_offsets")

    def __init__(self, tables, at, offsets):
        self._tables, self._at, self._offsets = tables, at, offsets

    def word(self, name):
        return self._tables.words[(self._at + self._offsets[name]) // 4]

    def double(self, name):
        return self._tables.doubles[(self._at + self._offsets[name]) // 8]

    def price(self, name):
        return self.double(name) or None

    def tag(self):
        at = self._at + self._offsets["tag"]
        return self._tables.bytes[at:at + self.word("tagBytes")].decode() or None


class Trade(namedtuple("Trade", ("trade", "quantity", "entry_price", *DETAILS, "known"))):
    """An open trade. `known` has its profit and its extremes by the close of a candle, and that candle; None: nothing.

    Without that candle they are those of this moment: of one of many markets.
    """

    __slots__ = ()

    def __getattribute__(self, name):
        if name in DETAILS and tuple.__getitem__(self, -1) is None:
            want()
        return super().__getattribute__(name)

    @property
    def profit(self):
        """quantity x (close - entry price), before costs."""
        _, _, _, since = self._seen()
        if since is None or since == candle_now[0]:
            return self.known[0]
        return self.quantity * (candles.close[-1] - self.entry_price)

    @property
    def best_price(self):
        """The best price since the entry."""
        _, best, _, since = self._seen()
        if since is None:
            return best
        later = (candles.high if self.quantity > 0 else candles.low)[since + 1:]
        return (max if self.quantity > 0 else min)((best, *later))

    @property
    def worst_price(self):
        """The worst price since the entry."""
        _, _, worst, since = self._seen()
        if since is None:
            return worst
        later = (candles.low if self.quantity > 0 else candles.high)[since + 1:]
        return (min if self.quantity > 0 else max)((worst, *later))

    def _seen(self):
        if self.known is None:
            want()
        return self.known

    def __repr__(self):
        shown = self._fields[:-1] if self.known else self._fields[:3]
        return f"Trade({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


def read_trade(of, n):
    """The n-th open trade."""
    row = Row(of, LAYOUT["tradesAt"] + n * LAYOUT["tradeBytes"], TRADE)
    common = row.word("number"), row.double("quantity"), row.double("entryPrice")
    if columns.list_bits & 8 == 0:
        return Trade(*common, *(None for _ in DETAILS), None)
    row = Row(of, LAYOUT["detailsAt"] + n * LAYOUT["detailBytes"], DETAIL)
    since = words[STATE["tradesIndex"] // 4] if of is tables else None
    known = row.double("profit"), row.double("bestPrice"), row.double("worstPrice"), since
    return Trade(
        *common, row.word("order"), row.tag(), row.word("entryIndex"), row.double("entryTime"), row.price("stopLoss"),
        row.price("takeProfit"), row.price("trailingStop"), known,
    )


class Fills:
    """The fills that the strategy has not been told of, and the trades that were closed last."""

    def __init__(self):
        self._waiting = []
        self._closed = []
        self._shown = ()

    def take(self, count):
        for n in range(count):
            fill, closed = read_fill(n)
            self._waiting.append((fill, closed))
            if closed is not None:
                self._closed.append(closed)
                self._shown = None
        most = LAYOUT["closedTradesMax"]
        if len(self._closed) > 2 * most:
            del self._closed[:-most]

    def report(self, strategy):
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for fill, closed in waiting:
            refuse_answer("on_fill", strategy.on_fill(fill))
            if closed is not None:
                refuse_answer("on_close", strategy.on_close(closed))

    def closed_trades(self):
        if columns.list_bits & 16 == 0:
            want()
        if self._shown is None:
            self._shown = tuple(reversed(self._closed[-LAYOUT["closedTradesMax"]:]))
        return self._shown


def read_fill(n):
    """The n-th fill of the table, and the trade that it closed; None: none."""
    row = Row(tables, LAYOUT["fillsAt"] + n * LAYOUT["fillBytes"], FILL)
    trade, units, price, index, time = (
        row.word("trade"), row.double("quantity"), row.double("price"), row.word("index"), row.double("time")
    )
    is_buy, tag, reason = row.word("side") > 0, row.tag(), row.word("reason")
    exit_reason = None if reason < 0 else EXIT_REASONS[reason]
    fill = Fill(row.word("order") or None, trade, "buy" if is_buy else "sell", units, price, row.double("fee"), index, time,
                tag, exit_reason)
    closed = None if exit_reason is None else ClosedTrade(
        trade, row.word("entryOrder"), tag, -units if is_buy else units, row.word("entryIndex"), row.double("entryTime"),
        row.double("entryPrice"), index, time, price, exit_reason, row.double("profit"), row.double("fees"),
        row.double("bestPrice"), row.double("worstPrice"),
    )
    if not many.names:
        return fill, closed
    market = many.names[words[LAYOUT["fillMarketsAt"] // 4 + n]]
    return MarketFill(*fill, market), None if closed is None else MarketTrade(*closed, market)


def refuse_answer(name, answer):
    """`async def` and `yield` make a function whose lines never run."""
    if hasattr(answer, "__await__") or hasattr(answer, "send"):
        raise TypeError(f"{name} must be a plain function, without async and yield: nothing waits within a candle")


fills = Fills()
