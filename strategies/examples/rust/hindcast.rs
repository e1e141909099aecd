//! Strategies in Rust: version 1 of strategies/ABI.md, which explains every field. A strategy implements `Strategy` and is
//! named in `strategy!`.
#![allow(dead_code, unused_imports, unused_macros)]

use std::alloc::Layout;
use std::cell::Cell;

// ---- The memory that Hindcast shares ----

/// 0 in a price, distance or fraction of an order means none.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Order {
    pub action: i32,
    pub side: i32,
    pub kind: i32,
    pub size_by: i32,
    pub size: f64,
    pub limit_price: f64,
    pub stop_price: f64,
    pub stop_loss: f64,
    pub take_profit: f64,
    pub stop_loss_fraction: f64,
    pub take_profit_fraction: f64,
    pub trail_distance: f64,
    pub trail_fraction: f64,
    pub candles_max: u32,
    pub time_stop_candles: u32,
    pub flags: u32,
    pub target: i32,
    pub tag: u32,
    pub tag_len: u32,
}

const PLACE: i32 = 1;
const CLOSE: i32 = 2;
const CLOSE_TRADE: i32 = 3;
const CANCEL: i32 = 4;
const CANCEL_ALL: i32 = 5;
const REPLACE: i32 = 6;
const PROTECT: i32 = 7;

/// Values of `kind`.
pub const MARKET: i32 = 0;
pub const LIMIT: i32 = 1;
pub const STOP: i32 = 2;
pub const STOP_LIMIT: i32 = 3;
/// Values of `size_by`.
pub const BY_UNITS: i32 = 1;
pub const BY_EQUITY_FRACTION: i32 = 2;
pub const BY_CASH: i32 = 3;
pub const BY_RISK_FRACTION: i32 = 4;
/// A bit of `flags`.
pub const REDUCE_ONLY: u32 = 1;

impl Order {
    /// A market order, sized by default: 1 buys, -1 sells.
    pub fn market(side: i32) -> Order {
        Order { side, ..Order::default() }
    }

    /// The same order with stops of the trade that it opens, as fractions of the entry price.
    pub fn guarded(self, stop_loss_fraction: f64, take_profit_fraction: f64) -> Order {
        Order { stop_loss_fraction, take_profit_fraction, ..self }
    }

    /// The same order with a tag.
    pub fn tagged(self, tag: &'static str) -> Order {
        Order { tag: tag.as_ptr() as u32, tag_len: tag.len() as u32, ..self }
    }
}

#[repr(C)]
pub struct Trade {
    pub number: i32,
    pub quantity: f64,
    pub entry_price: f64,
}

/// What is known of the open trade in the same row; prices are 0 for none.
#[repr(C)]
pub struct Details {
    pub order: i32,
    pub entry_index: i32,
    pub entry_time: f64,
    pub stop_loss: f64,
    pub take_profit: f64,
    pub trailing_stop: f64,
    pub best_price: f64,
    pub worst_price: f64,
    pub profit: f64,
    pub tag_len: u32,
    reserved: u32,
    pub tag: [u8; 64],
}

/// A fill since the last decision: `reason` is -1 for an entry, else the number of an exit reason.
#[repr(C)]
pub struct Fill {
    pub order: i32,
    pub trade: i32,
    pub index: i32,
    pub side: i32,
    pub reason: i32,
    pub entry_order: i32,
    pub entry_index: i32,
    pub tag_len: u32,
    pub price: f64,
    pub quantity: f64,
    pub fee: f64,
    pub time: f64,
    pub entry_price: f64,
    pub entry_time: f64,
    pub profit: f64,
    pub fees: f64,
    pub best_price: f64,
    pub worst_price: f64,
    pub tag: [u8; 64],
}

/// Other candles that a strategy reads, see `Frame::input`.
#[repr(C)]
pub struct Input {
    columns: [*const f64; 6],
    pub count: u32,
    pub columns_capacity: u32,
}

/// Each column, from the first candle to the newest that has closed.
impl Input {
    pub fn time(&self) -> &[f64] {
        self.list(0)
    }
    pub fn open(&self) -> &[f64] {
        self.list(1)
    }
    pub fn high(&self) -> &[f64] {
        self.list(2)
    }
    pub fn low(&self) -> &[f64] {
        self.list(3)
    }
    pub fn close(&self) -> &[f64] {
        self.list(4)
    }
    pub fn volume(&self) -> &[f64] {
        self.list(5)
    }

    fn list(&self, column: usize) -> &[f64] {
        unsafe { std::slice::from_raw_parts(self.columns[column], self.count as usize) }
    }
}

/// The place of an input of `parameters.inputs`; called in `prepare`. A run without an input of this name ends.
pub fn ask_input(name: &str) -> usize {
    unsafe { host::input(name.as_ptr(), name.len() as u32) as usize }
}

/// The place of longer candles, such as "1d", which are made of the run's own; called in `prepare`.
pub fn ask_resampled(timeframe: &str) -> usize {
    unsafe { host::resample(timeframe.as_ptr(), timeframe.len() as u32) as usize }
}

#[repr(C)]
pub struct Frame {
    pub abi_version: u32,
    pub frame_size: u32,
    parameters: *const u8,
    parameters_len: u32,
    pub warmup: u32,
    pub orders_max: u32,
    pub trades_max: u32,
    pub working_max: u32,
    columns: [*const f64; 6],
    orders: *mut Order,
    results: *const i32,
    trades: *const Trade,
    working: *const i32,
    pub count: u32,
    results_count: u32,
    pub working_orders: u32,
    pub open_trades: u32,
    trades_count: u32,
    working_count: u32,
    pub cash: f64,
    pub equity: f64,
    pub quantity: f64,
    pub entry_price: f64,
    pub initial_balance: f64,
    pub timeframe_ms: f64,
    pub first_index: u32,
    pub columns_capacity: u32,
    inputs: *const Input,
    pub inputs_count: u32,
    /// Set it, and `has_details` to 1, in `prepare` to have `fills` and `details`.
    pub fills_max: u32,
    pub has_details: u32,
    details: *const Details,
    fills: *const Fill,
    fills_count: u32,
}

const _: () = assert!(std::mem::size_of::<Order>() == 112 && std::mem::size_of::<Frame>() == 184);
const _: () = assert!(std::mem::size_of::<Details>() == 136 && std::mem::size_of::<Fill>() == 176);

/// Each column, from the first candle to the deciding one, and the tables that `prepare` requested.
impl Frame {
    pub fn time(&self) -> &[f64] {
        self.list(self.columns[0], self.count)
    }
    pub fn open(&self) -> &[f64] {
        self.list(self.columns[1], self.count)
    }
    pub fn high(&self) -> &[f64] {
        self.list(self.columns[2], self.count)
    }
    pub fn low(&self) -> &[f64] {
        self.list(self.columns[3], self.count)
    }
    pub fn close(&self) -> &[f64] {
        self.list(self.columns[4], self.count)
    }
    pub fn volume(&self) -> &[f64] {
        self.list(self.columns[5], self.count)
    }
    pub fn results(&self) -> &[i32] {
        self.list(self.results, self.results_count)
    }
    pub fn trades(&self) -> &[Trade] {
        self.list(self.trades, self.trades_count)
    }
    pub fn working(&self) -> &[i32] {
        self.list(self.working, self.working_count)
    }

    /// The details of `trades`, row by row.
    pub fn details(&self) -> &[Details] {
        self.list(self.details, self.trades_count)
    }
    pub fn fills(&self) -> &[Fill] {
        self.list(self.fills, self.fills_count)
    }

    /// An input by the place that `ask_input` gave.
    pub fn input(&self, place: usize) -> &Input {
        unsafe { &*self.inputs.add(place) }
    }

    fn list<T>(&self, first: *const T, count: u32) -> &[T] {
        unsafe { std::slice::from_raw_parts(first, count as usize) }
    }
}

/// A strategy, made once for a run.
pub trait Strategy {
    /// Reads the parameters, makes lines, and sets requests of the frame, such as `warmup`.
    fn prepare(frame: &mut Frame) -> Self;
    /// Decides at the close of each candle on which a decision is due.
    fn decide(&mut self, frame: &Frame, orders: &mut Orders);
}

/// Exports a strategy: Hindcast calls `init` and `on_candle`.
macro_rules! strategy {
    ($strategy:ty) => {
        static mut STRATEGY: Option<$strategy> = None;

        #[no_mangle]
        pub unsafe extern "C" fn init(frame: &mut Frame) -> i32 {
            begin();
            STRATEGY = Some(<$strategy as Strategy>::prepare(frame));
            0
        }

        #[no_mangle]
        pub unsafe extern "C" fn on_candle(frame: &Frame) -> i32 {
            advance(frame);
            let mut orders = Orders::new(frame);
            if let Some(strategy) = &mut *std::ptr::addr_of_mut!(STRATEGY) {
                strategy.decide(frame, &mut orders);
            }
            orders.count()
        }
    };
}
pub(crate) use strategy;

#[no_mangle]
pub extern "C" fn abi_version() -> i32 {
    1
}

#[no_mangle]
pub extern "C" fn alloc(size: usize) -> usize {
    Layout::from_size_align(size.max(8), 8).map_or(0, |layout| unsafe { std::alloc::alloc(layout) as usize })
}

// ---- Messages ----

mod host {
    #[link(wasm_import_module = "env")]
    extern "C" {
        pub fn abort(message: *const u8, length: u32) -> !;
        pub fn log(message: *const u8, length: u32);
        pub fn input(name: *const u8, length: u32) -> i32;
        pub fn resample(timeframe: *const u8, length: u32) -> i32;
        pub fn zone(name: *const u8, length: u32) -> i32;
        pub fn zone_offset(zone: i32, time: f64) -> f64;
        pub fn plot(name: *const u8, length: u32, pane: *const u8, pane_length: u32) -> i32;
        pub fn draw(plot: i32, value: f64);
    }
}

/// Ends the run with a message.
pub fn give_up(message: &str) -> ! {
    unsafe { host::abort(message.as_ptr(), message.len() as u32) }
}

pub fn log_line(line: &str) {
    unsafe { host::log(line.as_ptr(), line.len() as u32) }
}

/// A panic ends the run with its message.
pub fn begin() {
    std::panic::set_hook(Box::new(|panic| give_up(&panic.to_string())));
}

// ---- Times: parts of milliseconds since 1970, such as those of `Frame::time` ----

/// Month 1 to 12, weekday 0 (Sunday) to 6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    pub year: u32,
    pub month: u32,
    pub day: u32,
    pub weekday: u32,
    pub hour: u32,
    pub minute: u32,
}

/// The parts by UTC.
pub fn utc(time: f64) -> Moment {
    if !(time > -62_167_219_200_000.0 && time < 253_433_923_200_000.0) {
        give_up("a time is not of the years 1 to 9999");
    }
    let days = (time / 86_400_000.0).floor();
    let minutes = ((time - days * 86_400_000.0) / 60_000.0) as u32;
    // Days since the first of March of the year 0: a leap day ends its year, its 4, its 100 and its 400 years.
    let since = (days as i32 + 719_468) as u32;
    let (eras, rest) = (since / 146_097, since % 146_097);
    let centuries = (rest / 36_524).min(3);
    let (fours, rest) = ((rest - centuries * 36_524) / 1461, (rest - centuries * 36_524) % 1461);
    let years = (rest / 365).min(3);
    let day = rest - years * 365;
    // Months from March on have 31, 30, 31, 30 and 31 days, and again: 153 days in five.
    let month = (5 * day + 2) / 153;
    Moment {
        year: 400 * eras + 100 * centuries + 4 * fours + years + u32::from(month >= 10),
        month: if month < 10 { month + 3 } else { month - 9 },
        day: day - (153 * month + 2) / 5 + 1,
        weekday: (since + 3) % 7,
        hour: minutes / 60,
        minute: minutes % 60,
    }
}

/// A time zone.
#[derive(Clone, Copy)]
pub struct Zone(i32);

impl Zone {
    /// By its name, such as America/New_York. A name that there is not ends the run.
    pub fn named(name: &str) -> Zone {
        Zone(unsafe { host::zone(name.as_ptr(), name.len() as u32) })
    }
}

/// The parts by the clocks of a zone, with its daylight-saving time.
pub fn local(time: f64, zone: Zone) -> Moment {
    utc(time + unsafe { host::zone_offset(zone.0, time) })
}

// ---- Plots: series of your own, drawn on the result ----

#[derive(Clone, Copy)]
pub struct Plot(i32);

impl Plot {
    /// Its pane is a name that plots share, "price" over the candles, or "" for what its values fit.
    pub fn named(name: &str, pane: &str) -> Plot {
        Plot(unsafe { host::plot(name.as_ptr(), name.len() as u32, pane.as_ptr(), pane.len() as u32) })
    }

    /// Draws a value at the deciding candle.
    pub fn draw(self, value: f64) {
        unsafe { host::draw(self.0, value) }
    }
}

// ---- Parameters: one JSON object without spaces ----

impl Frame {
    /// The text from a key's value on; `None` if the key is absent. Keys of objects within the object are not found.
    fn find_value(&self, key: &str) -> Option<&str> {
        let json = std::str::from_utf8(self.list(self.parameters, self.parameters_len)).ok()?;
        let bytes = json.as_bytes();
        let (mut at, mut depth) = (0, 0);
        while at < bytes.len() {
            match bytes[at] {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                b'"' => {
                    let begin = at + 1;
                    at = begin;
                    while bytes[at] != b'"' {
                        // Step past an escaped quote.
                        at += if bytes[at] == b'\\' { 2 } else { 1 };
                    }
                    if depth == 1 && &json[begin..at] == key && bytes.get(at + 1) == Some(&b':') {
                        return Some(&json[at + 2..]);
                    }
                }
                _ => (),
            }
            at += 1;
        }
        None
    }

    /// A number; `default` if the key is absent.
    pub fn number(&self, key: &str, default: f64) -> f64 {
        self.find_value(key).map_or(default, |value| {
            let text = value.split([',', '}']).next().unwrap_or(value);
            text.parse().unwrap_or_else(|_| give_up(&format!("{key} is not a number")))
        })
    }

    /// A flag; `default` if the key is absent.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.find_value(key).map_or(default, |value| value.starts_with("true"))
    }

    /// A text as it stands in the JSON, escapes included; `default` if the key is absent.
    pub fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        self.find_value(key).and_then(|value| value.strip_prefix('"')?.split('"').next()).unwrap_or(default)
    }
}

// ---- Orders: each call fills in the next row of this decision ----

pub struct Orders<'a> {
    rows: &'a mut [Order],
    count: usize,
}

impl Orders<'_> {
    pub fn new(frame: &Frame) -> Orders<'_> {
        Orders { rows: unsafe { std::slice::from_raw_parts_mut(frame.orders, frame.orders_max as usize) }, count: 0 }
    }

    pub fn count(&self) -> i32 {
        self.count as i32
    }

    /// Places an order.
    pub fn place(&mut self, order: Order) {
        self.add(Order { action: PLACE, ..order });
    }

    /// Closes this fraction of each open trade.
    pub fn close(&mut self, fraction: f64) {
        self.add(Order { action: CLOSE, size: fraction, ..Order::default() });
    }

    /// Closes this fraction of one trade.
    pub fn close_trade(&mut self, trade: i32, fraction: f64) {
        self.add(Order { action: CLOSE_TRADE, target: trade, size: fraction, ..Order::default() });
    }

    pub fn cancel(&mut self, order: i32) {
        self.add(Order { action: CANCEL, target: order, ..Order::default() });
    }

    pub fn cancel_all(&mut self) {
        self.add(Order { action: CANCEL_ALL, ..Order::default() });
    }

    /// Withdraws a working order and places another instead.
    pub fn replace(&mut self, working: i32, order: Order) {
        self.add(Order { action: REPLACE, target: working, ..order });
    }

    /// Sets the stop loss and take profit of an open trade, as prices; 0 removes one.
    pub fn protect(&mut self, trade: i32, stop_loss: f64, take_profit: f64) {
        self.add(Order { action: PROTECT, target: trade, stop_loss, take_profit, ..Order::default() });
    }

    /// Moves one guard of an open trade, and keeps the other.
    pub fn move_stop_loss(&mut self, trade: i32, stop_loss: f64) {
        self.add(Order { action: PROTECT, target: trade, stop_loss, flags: 2, ..Order::default() });
    }
    pub fn move_take_profit(&mut self, trade: i32, take_profit: f64) {
        self.add(Order { action: PROTECT, target: trade, take_profit, flags: 1, ..Order::default() });
    }

    fn add(&mut self, order: Order) {
        if self.count == self.rows.len() {
            give_up("more orders in a decision than orders_max");
        }
        self.rows[self.count] = order;
        self.count += 1;
    }
}

// ---- Lines: columns of candles and indicators, one value a candle, equal to the built-in strategies' to the bit ----

/// One value a candle.
#[derive(Clone, Copy)]
pub struct Line(&'static State);

struct State {
    now: Cell<f64>,
    before: Cell<f64>,
    step: Cell<Option<Box<dyn FnMut() -> f64>>>,
}

impl Line {
    /// The value at the newest candle; NaN if there is none.
    pub fn now(self) -> f64 {
        self.0.now.get()
    }

    /// The value at the candle before the newest.
    pub fn before(self) -> f64 {
        self.0.before.get()
    }

    /// A line of your own: `step` gives its value at the newest candle. Sources are made before it.
    pub fn new(step: impl FnMut() -> f64 + 'static) -> Line {
        let line = Line::empty();
        line.0.step.set(Some(Box::new(step)));
        lines().push(line);
        line
    }

    fn empty() -> Line {
        let step = Cell::new(None);
        Line(Box::leak(Box::new(State { now: Cell::new(f64::NAN), before: Cell::new(f64::NAN), step })))
    }

    fn set(self, value: f64) {
        self.0.before.set(self.0.now.replace(value));
    }

    fn step(self) {
        if let Some(mut step) = self.0.step.take() {
            self.set(step());
            self.0.step.set(Some(step));
        }
    }
}

struct Lines {
    columns: Vec<Line>,
    made: Vec<Line>,
    candles_seen: u32,
}

/// The module has one thread.
fn registry() -> &'static mut Lines {
    static mut LINES: Option<Lines> = None;
    let make = || Lines { columns: (0..6).map(|_| Line::empty()).collect(), made: Vec::new(), candles_seen: 0 };
    unsafe { (*std::ptr::addr_of_mut!(LINES)).get_or_insert_with(make) }
}

fn lines() -> &'static mut Vec<Line> {
    &mut registry().made
}

pub fn times() -> Line {
    registry().columns[0]
}
pub fn opens() -> Line {
    registry().columns[1]
}
pub fn highs() -> Line {
    registry().columns[2]
}
pub fn lows() -> Line {
    registry().columns[3]
}
pub fn closes() -> Line {
    registry().columns[4]
}
pub fn volumes() -> Line {
    registry().columns[5]
}

/// Gives each line its values at the new candles; the first decision may have many candles before it.
pub fn advance(frame: &Frame) {
    let Lines { columns, made, candles_seen } = registry();
    for i in *candles_seen..frame.count {
        for (line, column) in columns.iter().zip(frame.columns) {
            line.set(unsafe { *column.add(i as usize) });
        }
        made.iter().for_each(|line| line.step());
    }
    *candles_seen = frame.count;
}

/// A period as a number of candles.
fn candles_of(period: f64) -> usize {
    if !(1.0..=10_000.0).contains(&period) {
        give_up("a period must be 1 to 10000 candles");
    }
    period as usize
}

/// Pairs of doubles stand for unrounded sums.
type Pair = (f64, f64);

fn add((high, low): Pair, value: f64) -> Pair {
    let sum = high + value;
    let part = sum - high;
    (sum, low + ((high - (sum - part)) + (value - part)))
}

/// The quotient, rounded once.
fn divide((high, low): Pair, divisor: f64) -> f64 {
    let quotient = high / divisor;
    let scaled = quotient * 134_217_729.0;
    let upper = scaled - (scaled - quotient);
    let lower = quotient - upper;
    quotient + ((high - upper * divisor) - lower * divisor + low) / divisor
}

/// A line over windows of `period` values: the tail of one block of `period` values and the head of the next.
///
/// `join` adds a value to the `n - 1` values of a pair, `read` gives a window's value from its tail, its head and the head's length.
fn windows(
    values: Line,
    period: f64,
    join: impl Fn(Pair, f64, f64) -> Pair + 'static,
    read: impl Fn(Pair, Pair, f64) -> f64 + 'static,
    empty: Pair,
) -> Line {
    let period = candles_of(period);
    let (mut block, mut tails) = (vec![0.0; period], vec![empty; period + 1]);
    let (mut place, mut head, mut is_full) = (0, empty, false);
    Line::new(move || {
        let value = values.now();
        if value.is_nan() {
            return value;
        }
        block[place] = value;
        place += 1;
        if place == period {
            for k in (0..period).rev() {
                tails[k] = join(tails[k + 1], block[k], (period - k) as f64);
            }
            (place, head, is_full) = (0, empty, true);
            return read(tails[0], empty, 0.0);
        }
        head = join(head, value, place as f64);
        if is_full { read(tails[place], head, place as f64) } else { f64::NAN }
    })
}

/// Simple moving average.
pub fn sma(values: Line, period: f64) -> Line {
    let read = move |tail: Pair, head: Pair, _| {
        let sum = tail.0 + head.0;
        let part = sum - tail.0;
        divide((sum, (tail.0 - (sum - part)) + (head.0 - part) + (tail.1 + head.1)), period)
    };
    windows(values, period, |sum, value, _| add(sum, value), read, (0.0, 0.0))
}

/// Standard deviation, of a population.
pub fn stddev(values: Line, period: f64) -> Line {
    let join = |(mean, squares): Pair, value: f64, count: f64| {
        let step = value - mean;
        let mean = mean + step / count;
        (mean, squares + step * (value - mean))
    };
    let read = move |tail: Pair, head: Pair, heads: f64| {
        let between = head.0 - tail.0;
        let joined = if heads == 0.0 { 0.0 } else { between * between * (heads * (period - heads) / period) };
        ((tail.1 + head.1 + joined) / period).sqrt()
    };
    windows(values, period, join, read, (0.0, 0.0))
}

/// The highest of the last `period` values.
pub fn highest(values: Line, period: f64) -> Line {
    extreme(values, period, |a, b| if b > a { b } else { a }, f64::NEG_INFINITY)
}

/// The lowest of the last `period` values.
pub fn lowest(values: Line, period: f64) -> Line {
    extreme(values, period, |a, b| if b < a { b } else { a }, f64::INFINITY)
}

fn extreme(values: Line, period: f64, pick: fn(f64, f64) -> f64, none: f64) -> Line {
    let join = move |best: Pair, value: f64, _| (pick(best.0, value), 0.0);
    windows(values, period, join, move |tail, head, _| pick(tail.0, head.0), (none, 0.0))
}

/// Exponential average, with the weight 2 / (period + 1).
pub fn ema(values: Line, period: f64) -> Line {
    let mut smoothing = Smoothing::new(period, 2.0 / (period + 1.0));
    Line::new(move || smoothing.next(values.now()))
}

/// Wilder's average: exponential, with the weight 1 / period.
pub fn wilder(values: Line, period: f64) -> Line {
    let mut smoothing = Smoothing::new(period, 1.0 / period);
    Line::new(move || smoothing.next(values.now()))
}

/// Starts at the mean of the first values.
struct Smoothing {
    first: Vec<f64>,
    period: usize,
    weight: f64,
    average: f64,
}

impl Smoothing {
    fn new(period: f64, weight: f64) -> Smoothing {
        Smoothing { first: Vec::new(), period: candles_of(period), weight, average: f64::NAN }
    }

    fn next(&mut self, value: f64) -> f64 {
        if value.is_nan() {
            return value;
        }
        if self.first.len() == self.period {
            self.average += self.weight * (value - self.average);
            return self.average;
        }
        self.first.push(value);
        if self.first.len() == self.period {
            self.average = divide(self.first.iter().rev().fold((0.0, 0.0), |sum, value| add(sum, *value)), self.period as f64);
        }
        self.average
    }
}

/// Wilder's relative strength index.
pub fn rsi(values: Line, period: f64) -> Line {
    let (mut rises, mut falls) = (Smoothing::new(period, 1.0 / period), Smoothing::new(period, 1.0 / period));
    Line::new(move || {
        let change = values.now() - values.before();
        let size = change.abs();
        let rise = rises.next(0.5 * size + 0.5 * change);
        let both = rise + falls.next(0.5 * size - 0.5 * change);
        if both == 0.0 { 50.0 } else { 100.0 * rise / both }
    })
}

/// Wilder's average true range.
pub fn atr(period: f64) -> Line {
    let (high, low, close) = (highs(), lows(), closes());
    let range = Line::new(move || {
        let top = if close.before() > high.now() { close.before() } else { high.now() };
        let bottom = if close.before() < low.now() { close.before() } else { low.now() };
        top - bottom
    });
    wilder(range, period)
}

/// a + factor x b: the macd is `combine(ema(closes(), 12.0), -1.0, ema(closes(), 26.0))`, a band `combine(sma, width, stddev)`.
pub fn combine(a: Line, factor: f64, b: Line) -> Line {
    Line::new(move || a.now() + factor * b.now())
}

/// 1 at a candle where `a` crosses above `b`, -1 where it crosses below, else 0. Lines that meet and part again do not cross.
pub fn cross(a: Line, b: Line) -> Line {
    let mut last = 0.0;
    Line::new(move || {
        let before = last;
        let (now, other) = (a.now(), b.now());
        if now != other {
            last = if now > other { 1.0 } else if now < other { -1.0 } else { 0.0 };
        }
        if last * before < 0.0 { last } else { 0.0 }
    })
}
