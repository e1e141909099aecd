"""What a Python script finds without an import. Put this file beside yours, and Pyright and Pylance know it (PYTHON.md)."""
from typing import Any, Literal, NamedTuple, Protocol, Sequence, overload

class Column(Sequence[float], Protocol):
    """A value a candle, oldest first. It ends with the deciding candle: `column[i]` and `column[-1]` are its newest value."""

Input = Column | float

class Candles(Protocol):
    """The candles so far. `time` is in milliseconds since 1970, at a candle's start."""

    time: Column
    open: Column
    high: Column
    low: Column
    close: Column
    volume: Column

class Account(Protocol):
    """The account at the close of the deciding candle. `entry_price` is NaN while `quantity` is 0, which is below 0 for a short one."""

    cash: float
    equity: float
    quantity: float
    entry_price: float
    closed_trades: tuple[ClosedTrade, ...]
    initial_balance: float

class Trade(Protocol):
    """An open trade: its number, its units (below 0: short) and the price at which it was entered.

    `order` opened it, and `tag` is its tag. Guards are None where there is none. `profit` is quantity x (close - entry price), before costs.
    """

    trade: int
    quantity: float
    entry_price: float
    order: int
    tag: str | None
    entry_index: int
    entry_time: float
    stop_loss: float | None
    take_profit: float | None
    trailing_stop: float | None
    profit: float
    best_price: float
    worst_price: float

class ClosedTrade(NamedTuple):
    """A trade, or the part of one that a fill has closed. `profit` is net of fees and financing."""

    trade: int
    order: int
    tag: str | None
    quantity: float
    entry_index: int
    entry_time: float
    entry_price: float
    exit_index: int
    exit_time: float
    exit_price: float
    exit_reason: str
    profit: float
    fees: float
    best_price: float
    worst_price: float

class Fill(NamedTuple):
    """A fill. `order` is None where a stop, a target or the simulator closed the trade, `exit_reason` where it opened one."""

    order: int | None
    trade: int
    side: Literal["buy", "sell"]
    quantity: float
    price: float
    fee: float
    index: int
    time: float
    tag: str | None
    exit_reason: str | None

class Orders(Protocol):
    """Orders are filled at the next candle's open at the earliest. Each has a number."""

    working: tuple[int, ...]
    trades: tuple[Trade, ...]
    def buy(
        self,
        *,
        size: float | None = None,
        size_by: Literal["units", "equity_fraction", "cash", "risk_fraction"] | None = None,
        limit_price: float | None = None,
        stop_price: float | None = None,
        stop_loss: float | None = None,
        take_profit: float | None = None,
        stop_loss_fraction: float | None = None,
        take_profit_fraction: float | None = None,
        trail_distance: float | None = None,
        trail_fraction: float | None = None,
        candles_max: int | None = None,
        time_stop_candles: int | None = None,
        reduce_only: bool | None = None,
        tag: str | None = None,
    ) -> int: ...
    def sell(self, **options: Any) -> int: ...
    def close(self, fraction: float = 1, tag: str | None = None) -> int: ...
    def close_trade(self, trade: int, fraction: float = 1, tag: str | None = None) -> int: ...
    def cancel(self, order: int) -> None: ...
    def cancel_all(self) -> None: ...
    def replace(self, order: int, side: Literal["buy", "sell"], **options: Any) -> int: ...
    def protect(self, trade: int, *, stop_loss: float | None = ..., take_profit: float | None = ...) -> None:
        """Sets the stop loss and take profit of an open trade, as prices. None removes one; one that is left out stays."""
    def is_working(self, order: int) -> bool: ...

class Strategy:
    """A strategy: class attributes with defaults are its parameters."""

    timeframe_ms: float
    first_index: int
    warmup: Any
    def prepare(self, candles: Candles) -> None: ...
    def decide(self, i: int, candles: Candles, account: Account, orders: Orders) -> None: ...
    def on_fill(self, fill: Fill) -> None:
        """Called before `decide` for each fill since the last decision, oldest first."""
    def on_close(self, trade: ClosedTrade) -> None:
        """Called for each trade that a fill has closed, or a part of it, behind its `on_fill`."""
    def score(self, i: int, candles: Candles) -> float:
        """How good an entry at candle `i` would be: with the rank `score`, the market with the highest decides first. Optional."""

class Market(Protocol):
    """A market of a Portfolio. `i` is its newest closed candle, -1 before the first; `weight` a fraction of equity."""

    index: int
    id: str
    symbol: str
    exchange: str
    time: Column
    open: Column
    high: Column
    low: Column
    close: Column
    volume: Column
    inputs: Any
    i: int
    has_closed: bool
    is_member: bool
    quantity: float
    entry_price: float
    weight: float

class Markets(tuple[Market, ...]):
    """The markets in the order of the run's instruments."""

    def of(self, name: str) -> Market:
        """A market by its id, such as SPY@ARCA, or by a symbol that only one has."""

class MarketTrade(ClosedTrade):
    """A closed trade of a Portfolio, or a part of one. `market` is the id of its market, such as SPY@ARCA."""

    market: str

class MarketFill(Fill):
    """A fill of a Portfolio. Without `order`, a target may have been filled, too."""

    market: str

class PortfolioAccount(Protocol):
    """The account at the deciding moment. `closed_trades` are those of all markets, the newest first; 256 at most."""

    cash: float
    closed_trades: tuple[MarketTrade, ...]
    equity: float
    initial_balance: float

class PortfolioOrders(Protocol):
    """Targets of weights, and the orders of each market."""

    def target(
        self, weights: dict[str, float], *, partial: bool = False, min_trade: float = 0, tag: str | None = None
    ) -> None:
        """Sets weights of equity by the names of markets. One that is not named is closed, and with `partial` left alone."""
    def of(self, name: str) -> Orders:
        """The orders of one market."""

class Portfolio:
    """A strategy that decides on many markets at once. Class attributes with defaults are its parameters."""

    timeframe_ms: float
    warmup: Any
    every: Any
    def prepare(self, markets: Markets) -> None: ...
    def decide(self, now: float, markets: Markets, account: PortfolioAccount, orders: PortfolioOrders) -> None: ...
    def on_fill(self, fill: MarketFill) -> None:
        """Called before `decide` for each fill of any market since the last decision, oldest first."""
    def on_close(self, trade: MarketTrade) -> None:
        """Called for each trade that a fill has closed, or a part of it, behind its `on_fill`."""

class UtcParts(NamedTuple):
    """The parts of a time; Sunday is weekday 0."""

    year: int
    month: int
    day: int
    weekday: int
    hour: int
    minute: int

nan: float

def plot(name: str, value: float | None, pane: str | None = None) -> None:
    """Draws a value at the deciding candle. The pane "price" lies over the candles."""

def utc(time: float) -> UtcParts:
    """The parts of a time in milliseconds."""

def crosses_above(a: Column | list[float], b: Column | list[float], i: int) -> bool:
    """True if `a` is above `b` at candle `i`, and was below when they last differed."""

def crosses_below(a: Column | list[float], b: Column | list[float], i: int) -> bool:
    """True if `a` is below `b` at candle `i`, and was above when they last differed."""

def resample(candles: Candles | Market, timeframe: str) -> Candles:
    """Longer candles that are made of the run's own, or of a market's, by UTC, in `prepare`: "5m", "15m", "30m", "1h" to "12h", "1d" or "1w"."""

@overload
def sma(values: list[float], period: int) -> float: ...
@overload
def sma(values: Input, period: int) -> Column:
    """Mean of the last `period` values."""

@overload
def ema(values: list[float], period: int) -> float: ...
@overload
def ema(values: Input, period: int) -> Column:
    """Exponential average with the weight 2 / (period + 1)."""

@overload
def wilder(values: list[float], period: int) -> float: ...
@overload
def wilder(values: Input, period: int) -> Column:
    """Wilder's average: exponential, with the weight 1 / period."""

@overload
def stddev(values: list[float], period: int) -> float: ...
@overload
def stddev(values: Input, period: int) -> Column:
    """Standard deviation of the last `period` values, of a population."""

@overload
def rsi(values: list[float], period: int) -> float: ...
@overload
def rsi(values: Input, period: int) -> Column:
    """Wilder's relative strength index, 0 to 100."""

@overload
def highest(values: list[float], period: int) -> float: ...
@overload
def highest(values: Input, period: int) -> Column:
    """The highest of the last `period` values."""

@overload
def lowest(values: list[float], period: int) -> float: ...
@overload
def lowest(values: Input, period: int) -> Column:
    """The lowest of the last `period` values."""

@overload
def shift(values: list[float], period: int) -> float: ...
@overload
def shift(values: Input, period: int) -> Column:
    """The value of so many candles before."""

@overload
def zscore(values: list[float], period: int) -> float: ...
@overload
def zscore(values: Input, period: int) -> Column:
    """Standard deviations above the mean of the last `period` values; 0 while they do not differ."""

def atr(high: Input, low: Input, close: Input, period: int) -> Column:
    """Wilder's average true range."""

class MacdValues(NamedTuple):
    macd: float
    signal: float
    histogram: float

class MacdLines(NamedTuple):
    macd: Column
    signal: Column
    histogram: Column

@overload
def macd(values: list[float], fast: int, slow: int, signal: int) -> MacdValues: ...
@overload
def macd(values: Input, fast: int, slow: int, signal: int) -> MacdLines:
    """Moving average convergence and divergence: commonly 12, 26 and 9."""

class BandValues(NamedTuple):
    upper: float
    middle: float
    lower: float

class BollingerLines(NamedTuple):
    upper: Column
    middle: Column
    lower: Column

@overload
def bollinger(values: list[float], period: int, width: float) -> BandValues: ...
@overload
def bollinger(values: Input, period: int, width: float) -> BollingerLines:
    """Bollinger bands, `width` standard deviations around the mean."""

class DonchianLines(NamedTuple):
    upper: Column
    lower: Column

def donchian(high: Input, low: Input, period: int) -> DonchianLines:
    """The highest high and the lowest low of the last `period` candles."""

class AdxLines(NamedTuple):
    adx: Column
    plus: Column
    minus: Column

def adx(high: Input, low: Input, close: Input, period: int) -> AdxLines:
    """Wilder's directional movement, 0 to 100: `plus` and `minus` are +DI and -DI."""

class SupertrendLines(NamedTuple):
    line: Column
    direction: Column

def supertrend(high: Input, low: Input, close: Input, period: int, multiple: float) -> SupertrendLines:
    """Bands of `multiple` average true ranges: the `direction` is 1 or -1, the `line` the price at which it would turn."""

class KeltnerLines(NamedTuple):
    upper: Column
    middle: Column
    lower: Column

def keltner(high: Input, low: Input, close: Input, period: int, range_period: int, width: float) -> KeltnerLines:
    """Exponential average of closes, and bands `width` average true ranges around it."""

class StochasticLines(NamedTuple):
    k: Column
    d: Column

def stochastic(high: Input, low: Input, close: Input, period: int, slowing: int, signal: int) -> StochasticLines:
    """Stochastic oscillator, 0 to 100: commonly 14, 3 and 3."""

class IchimokuLines(NamedTuple):
    conversion: Column
    base: Column
    leading_a: Column
    leading_b: Column

def ichimoku(high: Input, low: Input, conversion: int, base: int, span: int, displacement: int) -> IchimokuLines:
    """Ichimoku lines: commonly 9, 26, 52 and 26. The leading ones are the cloud as a chart shows it at the candle."""

class VwapLines(NamedTuple):
    mean: Column
    deviation: Column

def vwap(high: Input, low: Input, close: Input, volume: Input, period: int) -> VwapLines:
    """Mean of the typical prices of the last `period` candles by volume, and the standard deviation about it."""

class AnchoredVwapLines(NamedTuple):
    mean: Column
    deviation: Column

def anchored_vwap(high: Input, low: Input, close: Input, volume: Input, anchors: Input) -> AnchoredVwapLines:
    """The same since the last candle at which `anchors` was 0, such as the first one of a trading day."""

class TradingDayLines(NamedTuple):
    candle: Column
    length: Column

def trading_day(time: Input) -> TradingDayLines:
    """Number of the candle in its trading day, from 0, and of candles in the trading day before. Takes the candles' `time`."""

class LocalLines(NamedTuple):
    year: Column
    month: Column
    day: Column
    weekday: Column
    hour: Column
    minute: Column

def local(time: Input, zone: str) -> LocalLines:
    """The parts of the candles' times in a time zone such as "America/New_York", with its daylight-saving time."""

class OpeningRangeLines(NamedTuple):
    upper: Column
    lower: Column

def opening_range(high: Input, low: Input, anchors: Input, period: int) -> OpeningRangeLines:
    """Highest high and lowest low of the first `period` candles since `anchors` was 0; NaN until they have closed."""

def realised_volatility(time: Input, close: Input, period: int) -> Column:
    """Root of the mean squared return of the last `period` candles, scaled to a year of 365 days: 0.2 is 20%."""

def add(a: Input, b: Input) -> Column:
    """Columns joined candle by candle; a number stands for a column of that number."""

def subtract(a: Input, b: Input) -> Column: ...

def multiply(a: Input, b: Input) -> Column: ...

def divide(a: Input, b: Input) -> Column: ...
