"""The memory that the machine shares with its host, and the columns of candles.

The host calls the functions of `MACHINE` (machine.py) and reads and writes these buffers; nothing here calls the host. LAYOUT has the
numbers of script/layout.ts.
"""
import json

STATE = LAYOUT["state"]
CANDLE_COLUMNS = LAYOUT["candleColumns"]


class Tables:
    """The state, and the tables of an order book."""

    __slots__ = ("bytes", "words", "doubles")

    def __init__(self):
        self.bytes = bytearray(LAYOUT["memoryBytes"])
        self.words = memoryview(self.bytes).cast("i")
        self.doubles = memoryview(self.bytes).cast("d")


tables = Tables()
words, doubles = tables.words, tables.doubles
equity_now = memoryview(bytearray(8)).cast("d")
# The deciding candle, or the row of the deciding moment of many markets; -1 before the first.
candle_now = memoryview(bytearray(8)).cast("i")

ROWS, WANTED, LOGGED = (STATE[name] // 4 for name in ("rows", "wanted", "logged"))


class Wanted(BaseException):
    """The strategy reads what its text does not name: the host begins again with everything."""


def want():
    words[WANTED] = 1
    raise Wanted


class Watched:
    """A column whose slices are looked at: those that begin or end behind the deciding candle are empty there."""

    __slots__ = ("_view",)
    places = []

    def __init__(self, view):
        self._view = view

    def __getitem__(self, key):
        if isinstance(key, slice):
            count, start, stop = len(self._view), key.start, key.stop
            is_behind = isinstance(start, int) and (start >= count or start > 0 and isinstance(stop, int) and stop > count)
            frame = sys._getframe(1)
            # Ours ask for the rows behind the newest one, too.
            is_behind = is_behind and frame.f_code.co_filename == LAYOUT["pythonFile"]
            place = name_place(frame.f_code.co_name, frame.f_lineno, None)
            if is_behind and place not in self.places and len(self.places) < LAYOUT["peeksMax"]:
                self.places.append(place)
        return self._view[key]

    def __len__(self):
        return len(self._view)

    def __iter__(self):
        return iter(self._view)

    def __getattr__(self, name):
        return getattr(self._view, name)


class Columns:
    """The columns that are shown. Each ends with the deciding candle: the host lengthens it and writes its newest value."""

    # By the address of a view: the columns that it belongs to.
    owners = {}

    def __init__(self):
        self.is_open = self.is_watched = False
        self.capacity = 0
        self.list_bits = 0
        self.views = []
        self.kept = []
        self.numbers = []
        self.number_of = {}
        self.requests = []
        self.made = 0

    def add(self, number):
        # The host's address and nobody's to write: the bytes of the columns to come.
        view = memoryview(bytes(8 * self.capacity)).cast("d")[:0]
        self.views.append(view)
        self.numbers.append(number)
        shown = Watched(view) if self.is_watched else view
        self.kept.append(shown)
        self.number_of[id(shown)] = number
        self.owners[id(shown)] = self
        return shown

    def candle(self, name):
        if not self.is_open:
            want()
        return self.add(CANDLE_COLUMNS.index(name))

    def open(self, rows, bits, candles, inputs):
        """Shows the columns of the bits, and gives those that are asked for until `close`."""
        self.capacity, self.is_open, self.is_watched = rows, True, bits & LAYOUT["peeksBit"] != 0
        candles.inputs = Inputs(inputs, self)
        self.named = [name for n, name in enumerate(CANDLE_COLUMNS) if bits >> n & 1]
        for n, name in enumerate(CANDLE_COLUMNS):
            if bits >> n & 1:
                getattr(candles, name)
                if bits >> len(CANDLE_COLUMNS) & 4:
                    candles.inputs._show(name)

    def close(self):
        self.is_open = False

    def request(self, request, outputs):
        self.requests.append(request)
        made = []
        for _ in range(max(1, outputs)):
            if self.made == LAYOUT["columnsMax"]:
                raise ValueError(f"a strategy can have at most {LAYOUT['columnsMax']} columns")
            made.append(self.add(len(CANDLE_COLUMNS) + self.made))
            self.made += 1
        return made


class Candles:
    """The candles' columns: numbers, oldest first. `close[i]` and `close[-1]` are the deciding candle's."""

    __slots__ = (*CANDLE_COLUMNS, "inputs", "_columns")

    def __init__(self, columns):
        self._columns = columns

    def __getattr__(self, name):
        if name in CANDLE_COLUMNS:
            view = self._columns.candle(name)
            setattr(self, name, view)
            return view
        raise AttributeError(f"candles have no {name}: they have {', '.join(CANDLE_COLUMNS)} and inputs")


class InputCandles:
    """The columns of other candles: row `i` has the newest value whose candle had closed by the close of candle `i`."""

    __slots__ = (*CANDLE_COLUMNS, "_request", "_columns")

    def __init__(self, number, columns, timeframe=None):
        # Those of a timeframe are made of the run's own.
        self._request = ("input", [number], []) if timeframe is None else ("resample", [], [timeframe])
        self._columns = columns

    def __getattr__(self, name):
        if name not in CANDLE_COLUMNS:
            raise AttributeError(f"an input has no {name}: it has {', '.join(CANDLE_COLUMNS)}")
        if not self._columns.is_open:
            want()
        kind, numbers, texts = self._request
        numbers = [*numbers, CANDLE_COLUMNS.index(name)]
        view = self._columns.request({"name": kind, "inputs": [], "numbers": numbers, "texts": texts}, 1)[0]
        setattr(self, name, view)
        return view


def resample(given, timeframe):
    """Longer candles, made of the run's own, or of a market's."""
    own = given._candles if isinstance(given, Market) else given
    if own is not candles and own is given:
        raise TypeError("resample takes the candles, or a market, that prepare is given, and a timeframe")
    its = own._columns
    if not its.is_open:
        raise RuntimeError("resample is for prepare: keep its candles in self, and read them in decide")
    if timeframe not in LAYOUT["timeframes"]:
        raise ValueError(f"resample: the timeframe must be one of {', '.join(LAYOUT['timeframes'])}, not {show(timeframe)}")
    made = InputCandles(None, its, timeframe)
    for name in its.named:
        getattr(made, name)
    return made


class Inputs:
    """The inputs of a run, by their names: `inputs.daily` and `inputs["daily"]`."""

    __slots__ = ("_by_name", "_sample")

    def __init__(self, names, columns):
        # None: made-up candles, which any name finds.
        self._sample = InputCandles(0, columns) if names is None else None
        self._by_name = {name: InputCandles(number, columns) for number, name in enumerate(names or [])}

    def __getattr__(self, name):
        return self[name]

    def __getitem__(self, name):
        found = self._by_name.get(name, self._sample)
        if found is not None:
            return found
        has = f"it has {', '.join(self._by_name)}" if self._by_name else "it has none"
        raise AttributeError(f"the run has no input {show(name)}: {has}; parameters.inputs names them")

    def __contains__(self, name):
        return name in self._by_name

    def _show(self, name):
        for each in [*self._by_name.values(), *filter(None, [self._sample])]:
            getattr(each, name)


class Account:
    """The account at the close of the deciding candle."""

    __slots__ = ("cash", "quantity", "entry_price", "initial_balance")

    def __init__(self):
        self.cash = self.quantity = self.initial_balance = 0.0
        self.entry_price = nan

    @property
    def equity(self):
        return equity_now[0]

    @property
    def closed_trades(self):
        """The trades that were closed last, the newest first."""
        return fills.closed_trades()


nan = float("nan")
columns = Columns()
candles = Candles(columns)
account = Account()
CASH, QUANTITY, ENTRY_PRICE, INITIAL_BALANCE = (
    STATE[name] // 8 for name in ("cash", "quantity", "entryPrice", "initialBalance")
)


def take_account():
    """Reads the account, which has changed."""
    account.cash = doubles[CASH]
    quantity = account.quantity = doubles[QUANTITY]
    account.entry_price = nan if quantity == 0 else doubles[ENTRY_PRICE]
    account.initial_balance = doubles[INITIAL_BALANCE]


def snake(name):
    """`entryPrice` as `entry_price`."""
    return "".join("_" + letter.lower() if letter.isupper() else letter for letter in name)


def show(value):
    """A value in an error."""
    try:
        text = repr(value)
    except Exception:
        return "a value that cannot be shown"
    return text if len(text) <= 80 else text[:77] + "..."


def short(name):
    """A name in an error."""
    return name if len(name) <= 80 else name[:77] + "..."


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value - value == 0
