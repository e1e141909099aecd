//! Buys when the close is above the one `candles` before, with a stop loss; closes when it is below. Yours to change.
//! What the structures mean is written in Hindcast's strategies/ABI.md, version 1.
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

// ---- The strategy ----

struct Strategy {
    candles: usize,
    stop_loss: f64,
}

static mut STRATEGY: Strategy = Strategy { candles: 20, stop_loss: 0.1 };

#[no_mangle]
pub extern "C" fn abi_version() -> i32 {
    1
}

#[no_mangle]
pub unsafe extern "C" fn init(frame: &mut Frame) -> i32 {
    let json = slice::from_raw_parts(frame.parameters, frame.parameters_len as usize);
    let candles = read_number(json, b"candles", 20.0) as usize;
    if candles < 1 {
        give_up("candles must be 1 or more");
    }
    // No decision before this many candles are visible.
    frame.warmup = candles as u32 + 1;
    STRATEGY = Strategy { candles, stop_loss: read_number(json, b"stopLoss", 0.1) };
    0
}

/// Fills in rows of the order table, from the first; returns how many.
#[no_mangle]
pub unsafe extern "C" fn on_candle(frame: &mut Frame) -> i32 {
    let Strategy { candles, stop_loss } = STRATEGY;
    let close = slice::from_raw_parts(frame.close, frame.count as usize);
    let order = &mut *frame.orders;
    let now = close[close.len() - 1];
    let before = close[close.len() - 1 - candles];
    if now > before && frame.quantity == 0.0 {
        order.action = PLACE;
        order.side = 1;
        order.stop_loss_fraction = stop_loss;
        order.tag = TAG.as_ptr() as u32;
        order.tag_len = TAG.len() as u32;
        return 1;
    }
    if now < before && frame.quantity > 0.0 {
        order.action = CLOSE;
        order.size = 1.0;
        return 1;
    }
    0
}

const TAG: &str = "rise";
