"""The orders of a decision: rows of the order table, which the host reads behind it."""
ORDER = LAYOUT["order"]
ACTION = LAYOUT["action"]
ROW_BYTES = LAYOUT["orderBytes"]
EMPTY_ROW = bytes(ROW_BYTES)
SIZES_BY = LAYOUT["sizesBy"]
DOUBLES = {snake(name): ORDER[name] for name in LAYOUT["doubleOptions"]}
WHOLES = {snake(name): ORDER[name] for name in ("candlesMax", "timeStopCandles")}
OPTIONS = [*DOUBLES, *WHOLES, "size_by", "reduce_only", "tag"]
KEEP = object()


def read_double(name, value):
    if is_number(value):
        return value
    raise ValueError(f"{name} must be a number, not {show(value)}")


def read_size(value):
    if is_number(value) and value > 0:
        return value
    raise ValueError(f"size must be a number above 0, not {show(value)}: orders.sell sells")


def read_whole(name, value):
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31:
        return value
    hint = f": give {name}.{name}" if hasattr(value, name) else ""
    raise TypeError(f"{name} must be a whole number of at least 0, not {show(value)}{hint}")


def read_fraction(value):
    if is_number(value) and 0 < value <= 1:
        return value
    raise ValueError(f"the fraction to close must be above 0 and at most 1, not {show(value)}")


def read_size_by(value):
    if isinstance(value, str) and value in SIZES_BY[1:]:
        return SIZES_BY.index(value)
    raise TypeError(f"size_by must be one of {', '.join(SIZES_BY[1:])}, not {show(value)}")


def read_tag(tag):
    if not isinstance(tag, str):
        raise TypeError(f"tag must be a text, not {type(tag).__name__}")
    encoded = tag.encode()
    if len(encoded) <= LAYOUT["tagBytesMax"]:
        return encoded
    raise ValueError(f"a tag can have at most {LAYOUT['tagBytesMax']} bytes, not {len(encoded)}")


def read_options(options):
    """The parts of an order's row: what goes into doubles, what into words, and the tag."""
    numbers, wholes, tag, kind = [], [], None, 0
    for name, value in options.items():
        if value is None:
            continue
        if name in DOUBLES:
            numbers.append((DOUBLES[name], read_size(value) if name == "size" else read_double(name, value)))
            kind += 1 if name == "limit_price" else 2 if name == "stop_price" else 0
        elif name in WHOLES:
            wholes.append((WHOLES[name], read_whole(name, value)))
        elif name == "size_by":
            wholes.append((ORDER["sizeBy"], read_size_by(value)))
        elif name == "reduce_only":
            wholes.append((ORDER["flags"], LAYOUT["reduceOnly"] if value is True else 0))
        elif name == "tag":
            tag = read_tag(value)
        else:
            raise TypeError(f"{name} is no option of an order: there are {', '.join(OPTIONS)}")
    has_size = options.get("size") is not None
    if has_size and options.get("size_by") is None:
        wholes.append((ORDER["sizeBy"], 1))
    if not has_size and options.get("size_by") is not None:
        raise TypeError("size_by needs a size")
    wholes.append((ORDER["type"], kind))
    return numbers, wholes, tag


class Orders:
    """Places, changes and withdraws orders, which are filled at the next candle's open at the earliest."""

    def __init__(self, tables):
        self._tables = tables
        self._bytes, self._words, self._doubles = tables.bytes, tables.words, tables.doubles
        # Orders are named 1, 2, ...; those up to `known` were there before this decision.
        self._newest = self._known = self._tags_end = 0
        self._working = self._trades = ()
        self._working_revision = self._trades_revision = 0

    def buy(self, **options):
        """Buys at market, or with limit_price, stop_price or both. Returns the order's number."""
        return self._enter(ACTION["place"], 1, 0, options)

    def sell(self, **options):
        """Sells, as `buy` buys."""
        return self._enter(ACTION["place"], -1, 0, options)

    def close(self, fraction=1, tag=None):
        """Closes this fraction of each open trade."""
        return self._leave(ACTION["close"], 0, fraction, tag)

    def close_trade(self, trade, fraction=1, tag=None):
        """Closes a fraction of one trade."""
        return self._leave(ACTION["closeTrade"], read_whole("trade", trade), fraction, tag)

    def cancel(self, order):
        """Withdraws a working order."""
        self._begin()
        target = self._target(order)
        if not self._is_idle():
            self._words[self._add(ACTION["cancel"]) + ORDER["target"] // 4] = target

    def cancel_all(self):
        """Withdraws all working orders."""
        self._begin()
        if not self._is_idle():
            self._add(ACTION["cancelAll"])

    def replace(self, order, side, **options):
        """Withdraws a working order and places another, "buy" or "sell"."""
        if side not in ("buy", "sell"):
            raise TypeError(f'side must be "buy" or "sell", not {show(side)}')
        self._begin()
        return self._enter(ACTION["replace"], 1 if side == "buy" else -1, self._target(order), options)

    def protect(self, trade, *, stop_loss=KEEP, take_profit=KEEP):
        """Sets the stop loss and the take profit of an open trade, as prices; None removes one, absent ones stay."""
        number = read_whole("trade", trade)
        prices = [read_double(name, value) if value is not None and value is not KEEP else 0
                  for name, value in (("stop_loss", stop_loss), ("take_profit", take_profit))]
        keeps = (LAYOUT["keepStopLoss"] if stop_loss is KEEP else 0) | (LAYOUT["keepTakeProfit"] if take_profit is KEEP else 0)
        self._begin()
        row = self._add(ACTION["protect"])
        self._words[row + ORDER["flags"] // 4] = keeps
        self._words[row + ORDER["target"] // 4] = number
        self._doubles[row // 2 + ORDER["stopLoss"] // 8], self._doubles[row // 2 + ORDER["takeProfit"] // 8] = prices

    def is_working(self, order):
        """True while an order waits to be filled."""
        self._begin()
        if order is None or order == 0:  # No order was kept yet.
            return False
        name = self._check(order)
        return name > self._known or name in self.working

    @property
    def working(self):
        """The numbers of the working orders."""
        if columns.list_bits & 1 == 0:
            want()
        revision = self._words[STATE["workingRevision"] // 4]
        if revision != self._working_revision:
            at = LAYOUT["workingAt"] // 4
            self._working = tuple(self._words[at:at + self._words[STATE["workingCount"] // 4]])
            self._working_revision = revision
        return self._working

    @property
    def trades(self):
        """The open trades, oldest first."""
        if columns.list_bits & 2 == 0:
            want()
        revision = self._words[STATE["tradesRevision"] // 4]
        if revision != self._trades_revision:
            self._trades = tuple(read_trade(self._tables, n) for n in range(self._words[STATE["tradesCount"] // 4]))
            self._trades_revision = revision
        return self._trades

    def _begin(self):
        """Begins a decision where this is its first order."""
        if self._words[ROWS] == 0:
            self._known = self._newest
            self._tags_end = LAYOUT["tagsAt"]

    def _is_idle(self):
        """True if there is nothing to cancel."""
        return self._words[ROWS] == 0 and self._words[STATE["workingOrders"] // 4] == 0

    def _check(self, order):
        if isinstance(order, int) and not isinstance(order, bool) and 1 <= order <= self._newest:
            return order
        raise TypeError(f"an order is what buy, sell, close and replace return, not {show(order)}")

    def _target(self, order):
        name = self._check(order)
        if name > self._known:
            raise RuntimeError("an order cannot be cancelled or replaced in the decision that places it")
        return name

    def _add(self, action):
        """The place of a new row among the words."""
        count = self._words[ROWS]
        if candle_now[0] < 0:
            raise RuntimeError("orders are for decide")
        if count == LAYOUT["ordersMax"]:
            raise ValueError(f"a decision can have at most {LAYOUT['ordersMax']} orders")
        at = LAYOUT["ordersAt"] + count * ROW_BYTES
        self._bytes[at:at + ROW_BYTES] = EMPTY_ROW
        self._words[at // 4 + ORDER["action"] // 4] = action
        self._words[ROWS] = count + 1
        return at // 4

    def _name(self, row, tag):
        """Names the order of a row, and writes its tag."""
        if tag:
            end = self._tags_end + len(tag)
            self._bytes[self._tags_end:end] = tag
            self._words[row + ORDER["tagPointer"] // 4] = self._tags_end
            self._words[row + ORDER["tagBytes"] // 4] = len(tag)
            self._tags_end = end
        self._newest += 1
        return self._newest

    def _enter(self, action, side, target, options):
        self._begin()
        numbers, wholes, tag = read_options(options)
        row = self._add(action)
        self._words[row + ORDER["side"] // 4] = side
        self._words[row + ORDER["target"] // 4] = target
        for offset, value in wholes:
            self._words[row + offset // 4] = value
        for offset, value in numbers:
            self._doubles[(row * 4 + offset) // 8] = value
        return self._name(row, tag)

    def _leave(self, action, target, fraction, tag):
        self._begin()
        size = read_fraction(fraction)
        encoded = None if tag is None else read_tag(tag)
        row = self._add(action)
        self._words[row + ORDER["target"] // 4] = target
        self._doubles[(row * 4 + ORDER["size"]) // 8] = size
        return self._name(row, encoded)


orders = Orders(tables)
