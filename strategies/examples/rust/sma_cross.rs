//! The built-in sma-cross in Rust: long when the fast average crosses above the slow one, short or out when it crosses below.
#![no_std]

mod hindcast;

use core::slice;
use hindcast::{alloc, find_value, give_up, read_number, Frame, Order, CLOSE, PLACE};

// ---- The simple moving average of the built-in, rounded once, one candle at a time ----

struct Average {
    period: usize,
    /// For each value of the last block of `period` values: the sum from it to the block's end, as a pair of doubles.
    tails: &'static mut [(f64, f64)],
    /// The sum of the values after that block, likewise.
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
        // New memory is zero.
        let tails = unsafe { slice::from_raw_parts_mut(block as *mut (f64, f64), period) };
        Average { period, tails, head: (0.0, 0.0), now: f64::NAN, before: f64::NAN }
    }

    /// Adds the last of the values so far.
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

/// Adds a value to a pair of doubles, which stands for their unrounded sum.
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
    /// Fills in at most one order, and returns the number of orders.
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
