//! The built-in sma-cross in Rust: long where the fast average crosses above the slow one, and where it crosses below, short or out.
//! What the structures mean is written in strategies/ABI.md, version 1.
#![no_std]

use core::arch::wasm32::{memory_grow, memory_size};
use core::slice;

#[link(wasm_import_module = "env")]
extern "C" {
    fn abort(message: *const u8, length: u32) -> !;
}

fn give_up(message: &str) -> ! {
    unsafe { abort(message.as_ptr(), message.len() as u32) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    give_up("the strategy panicked")
}

// ---- What is shared with the host ----

#[repr(C)]
pub struct Order {
    action: i32,
    side: i32,
    kind: i32,
    size_by: i32,
    size: f64,
    limit_price: f64,
    stop_price: f64,
    stop_loss: f64,
    take_profit: f64,
    stop_loss_fraction: f64,
    take_profit_fraction: f64,
    trail_distance: f64,
    trail_fraction: f64,
    candles_max: u32,
    time_stop_candles: u32,
    flags: u32,
    target: i32,
    tag: u32,
    tag_len: u32,
}

const PLACE: i32 = 1;
const CLOSE: i32 = 2;

#[repr(C)]
pub struct Frame {
    abi_version: u32,
    frame_size: u32,
    parameters: *const u8,
    parameters_len: u32,
    warmup: u32,
    orders_max: u32,
    trades_max: u32,
    working_max: u32,
    time: *const f64,
    open: *const f64,
    high: *const f64,
    low: *const f64,
    close: *const f64,
    volume: *const f64,
    orders: *mut Order,
    results: *const i32,
    trades: u32,
    working: *const i32,
    count: u32,
    results_count: u32,
    working_orders: u32,
    open_trades: u32,
    trades_count: u32,
    working_count: u32,
    cash: f64,
    equity: f64,
    quantity: f64,
    entry_price: f64,
    initial_balance: f64,
}

const _: () = assert!(core::mem::size_of::<Order>() == 112 && core::mem::size_of::<Frame>() == 136);

// ---- Memory: given out from the end of what the linker has laid out, never taken back ----

extern "C" {
    static __heap_base: u8;
}
static mut HEAP_END: usize = 0;

#[no_mangle]
pub unsafe extern "C" fn alloc(size: usize) -> usize {
    if HEAP_END == 0 {
        HEAP_END = (&__heap_base as *const u8 as usize + 7) & !7;
    }
    let block = HEAP_END;
    HEAP_END += (size + 7) & !7;
    let pages = (HEAP_END + 65_535) >> 16;
    if pages > memory_size(0) && memory_grow(0, pages - memory_size(0)) == usize::MAX {
        return 0;
    }
    block
}

// ---- Parameters: one flat JSON object without spaces ----

/// What follows a key of the object; `None` where there is no such key.
fn find_value<'a>(json: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut at = 0;
    while at < json.len() {
        if json[at] == b'"' {
            let begin = at + 1;
            at = begin;
            while at < json.len() && json[at] != b'"' {
                // Past a quote that is escaped.
                at += if json[at] == b'\\' { 2 } else { 1 };
            }
            if json.get(begin..at) == Some(key) && json.get(at + 1) == Some(&b':') {
                return json.get(at + 2..);
            }
        }
        at += 1;
    }
    None
}

fn read_number(json: &[u8], key: &[u8], default: f64) -> f64 {
    let value = match find_value(json, key) {
        Some(value) => value,
        None => return default,
    };
    let end = value.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(value.len());
    match core::str::from_utf8(&value[..end]).ok().and_then(|text| text.parse().ok()) {
        Some(number) => number,
        None => give_up("a parameter is no number"),
    }
}

// ---- A simple moving average, rounded once: the built-in's, one candle at a time ----

struct Average {
    period: usize,
    /// Sums of the last block of `period` values from each of its values on, as pairs of doubles.
    tails: &'static mut [(f64, f64)],
    /// The sum of the values since that block, likewise.
    head: (f64, f64),
    now: f64,
    before: f64,
}

impl Average {
    fn new(period: f64) -> Average {
        if !(1.0..=10_000.0).contains(&period) {
            give_up("a period must be 1 to 10000 candles");
        }
        let period = period as usize;
        let block = unsafe { alloc(period * 16) };
        if block == 0 {
            give_up("out of memory");
        }
        // Fresh memory is zero, which is a pair of zeros.
        let tails = unsafe { slice::from_raw_parts_mut(block as *mut (f64, f64), period) };
        Average { period, tails, head: (0.0, 0.0), now: f64::NAN, before: f64::NAN }
    }

    /// Takes in the last of the values so far.
    fn push(&mut self, values: &[f64]) {
        self.before = self.now;
        self.now = self.mean(values);
    }

    fn mean(&mut self, values: &[f64]) -> f64 {
        let tail = values.len() % self.period;
        if tail == 0 {
            let mut sum = (0.0, 0.0);
            for (k, value) in values[values.len() - self.period..].iter().enumerate().rev() {
                sum = add(sum, *value);
                self.tails[k] = sum;
            }
            self.head = (0.0, 0.0);
            return divide(sum, self.period as f64);
        }
        if values.len() <= self.period {
            return f64::NAN;
        }
        self.head = add(self.head, values[values.len() - 1]);
        let (high, low) = self.tails[tail];
        let sum = high + self.head.0;
        let part = sum - high;
        let rest = (high - (sum - part)) + (self.head.0 - part) + (low + self.head.1);
        divide((sum, rest), self.period as f64)
    }
}

/// A pair of doubles, whose unrounded sum counts, and a value more.
fn add((high, low): (f64, f64), value: f64) -> (f64, f64) {
    let sum = high + value;
    let part = sum - high;
    (sum, low + ((high - (sum - part)) + (value - part)))
}

fn divide((high, low): (f64, f64), divisor: f64) -> f64 {
    let quotient = high / divisor;
    let scaled = quotient * 134_217_729.0;
    let upper = scaled - (scaled - quotient);
    let lower = quotient - upper;
    let rest = (high - upper * divisor) - lower * divisor;
    quotient + (rest + low) / divisor
}

// ---- The strategy ----

struct Strategy {
    fast: Average,
    slow: Average,
    seen: usize,
    shorts: bool,
    take_profit_level: f64,
    stop_loss_level: f64,
}

static mut STRATEGY: Option<Strategy> = None;

#[no_mangle]
pub extern "C" fn abi_version() -> i32 {
    1
}

#[no_mangle]
pub unsafe extern "C" fn init(frame: &mut Frame) -> i32 {
    let json = slice::from_raw_parts(frame.parameters, frame.parameters_len as usize);
    let fast = Average::new(read_number(json, b"fast", 10.0));
    let slow = Average::new(read_number(json, b"slow", 30.0));
    if fast.period >= slow.period {
        give_up("fast must be less than slow");
    }
    frame.warmup = slow.period as u32 + 1;
    STRATEGY = Some(Strategy {
        fast,
        slow,
        seen: 0,
        shorts: find_value(json, b"direction").map_or(true, |value| value.starts_with(b"\"both\"")),
        take_profit_level: read_number(json, b"takeProfitLevel", 0.0),
        stop_loss_level: read_number(json, b"stopLossLevel", 0.0),
    });
    0
}

#[no_mangle]
pub unsafe extern "C" fn on_candle(frame: &mut Frame) -> i32 {
    let strategy = match &mut STRATEGY {
        Some(strategy) => strategy,
        None => give_up("on_candle was called before init"),
    };
    let close = slice::from_raw_parts(frame.close, frame.count as usize);
    let order = &mut *frame.orders;
    strategy.decide(close, frame.quantity, order)
}

impl Strategy {
    /// Fills in at most one order; returns how many.
    fn decide(&mut self, close: &[f64], quantity: f64, order: &mut Order) -> i32 {
        while self.seen < close.len() {
            self.seen += 1;
            self.fast.push(&close[..self.seen]);
            self.slow.push(&close[..self.seen]);
        }
        if self.fast.before < self.slow.before && self.fast.now > self.slow.now {
            return if quantity <= 0.0 { self.enter(order, 1) } else { 0 };
        }
        if self.slow.before < self.fast.before && self.slow.now > self.fast.now {
            if self.shorts && quantity >= 0.0 {
                return self.enter(order, -1);
            }
            if quantity > 0.0 {
                order.action = CLOSE;
                order.size = 1.0;
                return 1;
            }
        }
        0
    }

    fn enter(&self, order: &mut Order, side: i32) -> i32 {
        order.action = PLACE;
        order.side = side;
        order.take_profit_fraction = self.take_profit_level;
        order.stop_loss_fraction = self.stop_loss_level;
        1
    }
}
