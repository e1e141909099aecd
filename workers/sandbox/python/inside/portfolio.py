"""What a strategy that decides on many markets sees: the markets, the account, targets of weights, and the orders of each market."""
AT = LAYOUT["portfolio"]
WEIGHT_MAX = AT["weightMax"]


class Market:
    """A market: the columns of its own candles, and what the account has of it."""

    __slots__ = ("index", "id", "symbol", "exchange", "_candles", "_at")

    def __init__(self, index, names, candles):
        self.index = index
        self.id, self.symbol, self.exchange = names
        self._candles = candles
        self._at = AT["head"] + index * AT["market"]

    @property
    def i(self):
        """The number of its newest closed candle; -1 before the first."""
        return int(many.state[self._at + AT["i"]])

    @property
    def has_closed(self):
        """True if that candle closed at this moment."""
        return many.state[self._at + AT["hasClosed"]] == 1

    @property
    def is_member(self):
        return many.state[self._at + AT["isMember"]] == 1

    @property
    def quantity(self):
        return many.state[self._at + AT["quantity"]]

    @property
    def entry_price(self):
        return many.state[self._at + AT["entryPrice"]]

    @property
    def weight(self):
        """What is held as a fraction of equity."""
        return many.state[self._at + AT["weight"]]

    def __getattr__(self, name):
        if name in CANDLE_COLUMNS or name == "inputs":
            return getattr(self._candles, name)
        raise AttributeError(f"a market has no {name}: it has {', '.join(CANDLE_COLUMNS)}, inputs, i and weight")

    def __repr__(self):
        return f"Market({self.id!r})"


class Markets(tuple):
    """The markets in the order of the run's instruments."""

    __slots__ = ()

    def of(self, name):
        """A market by its id, such as SPY@ARCA, or by a symbol that only one has."""
        return self[many.find(name)]


class ManyAccount:
    """The account at the deciding moment."""

    __slots__ = ()

    @property
    def cash(self):
        return many.state[AT["cash"]]

    @property
    def equity(self):
        return many.state[AT["equity"]]

    @property
    def initial_balance(self):
        return many.state[AT["initialBalance"]]

    @property
    def closed_trades(self):
        """The trades that were closed last in all markets, the newest first."""
        return fills.closed_trades()


class ManyOrders:
    """Targets of weights, and the orders of each market."""

    def target(self, weights, *, partial=False, min_trade=0, tag=None):
        """Sets weights of equity by the names of markets. One that is not named is closed, and with `partial` left alone."""
        many.target(weights, partial is True, read_double("min_trade", min_trade), "" if tag is None else tag)

    def of(self, name):
        """The orders of one market."""
        return many.open_book(many.find(name))


class Many:
    """The markets of a run, and what its strategy does with them."""

    def __init__(self):
        self.names, self.columns, self.books, self.touched = [], [], {}, []
        self.places, self.is_trial, self.tried = {}, False, 0
        self.tag = ""
        self.markets = Markets()
        self.bytes = bytearray()
        self.state = memoryview(self.bytes)

    def start(self, names, is_trial):
        self.names, self.is_trial = [each[0] for each in names], is_trial
        for n, (_, symbol, _) in enumerate(names):
            self.places[symbol] = -1 if symbol in self.places else n
        self.places.update((id, n) for n, id in enumerate(self.names))
        self.columns = [Columns() for _ in names]
        self.markets = Markets(Market(n, each, Candles(self.columns[n])) for n, each in enumerate(names))
        self.bytes = bytearray(8 * (AT["head"] + len(names) * (AT["market"] + 2)))
        self.state = memoryview(self.bytes).cast("d")

    def find(self, name):
        if not isinstance(name, str):
            raise TypeError("a market is named by a text, such as SPY or SPY@ARCA")
        place = self.places.get(name)
        if place is None and self.is_trial:
            place = self.places[name] = self.tried % len(self.names)
            self.tried += 1
        if place is None:
            raise LookupError(f"there is no market {show(name)}")
        if place < 0:
            raise LookupError(f"{show(name)} is the symbol of several markets: name its exchange, too")
        return place

    def begin(self):
        self.touched = []
        self.state[AT["hasTarget"]] = self.state[AT["touched"]] = 0

    def end(self):
        first = AT["head"] + len(self.names) * (AT["market"] + 1)
        for n, market in enumerate(self.touched):
            self.state[first + n] = market
        self.state[AT["touched"]] = len(self.touched)

    def target(self, weights, is_partial, min_trade, tag):
        if not isinstance(weights, dict):
            raise TypeError('target takes weights by the names of markets, such as {"SPY": 0.6, "TLT": 0.4}')
        if candle_now[0] < 0:
            raise RuntimeError("targets are for decide")
        read_tag(tag)
        wanted = {}
        for name, weight in weights.items():
            place = self.find(name)
            if not is_number(weight) or not abs(weight) <= WEIGHT_MAX:
                raise ValueError(
                    f"the weight of {short(name)} must be a number from -{WEIGHT_MAX} to {WEIGHT_MAX}, not {show(weight)}"
                )
            if place in wanted:
                raise ValueError(f"target names {short(name)} twice")
            wanted[place] = weight
        first = AT["head"] + len(self.names) * AT["market"]
        if not is_partial or self.state[AT["hasTarget"]] == 0:
            for n in range(len(self.names)):
                self.state[first + n] = nan if is_partial else 0
        for place, weight in wanted.items():
            self.state[first + place] = weight
        self.state[AT["hasTarget"]] = 1
        self.state[AT["minTrade"]] = min_trade
        self.tag = tag

    def open_book(self, market):
        if candle_now[0] < 0:
            raise RuntimeError("orders are for decide")
        if not self.state[AT["head"] + market * AT["market"] + AT["i"]] >= 0:
            raise RuntimeError(f"{self.names[market]} has no candle yet: it cannot have orders")
        book = self.books.get(market)
        if book is None:
            tables = Tables()
            book = self.books[market] = (Orders(tables), tables)
        if market not in self.touched:
            self.touched.append(market)
        return book[0]


many = Many()
MANY_ACCOUNT, MANY_ORDERS = ManyAccount(), ManyOrders()
