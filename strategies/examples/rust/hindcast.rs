//! Bindings for Rust: version 1 of strategies/ABI.md, which explains every field.

use core::arch::wasm32::{memory_grow, memory_size};

#[link(wasm_import_module = "env")]
extern "C" {
    fn abort(message: *const u8, length: u32) -> !;
}

pub fn give_up(message: &str) -> ! {
    unsafe { abort(message.as_ptr(), message.len() as u32) }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    give_up("the strategy panicked")
}

// ---- The memory that the host shares ----

#[repr(C)]
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

pub const PLACE: i32 = 1;
pub const CLOSE: i32 = 2;

#[repr(C)]
pub struct Frame {
    pub abi_version: u32,
    pub frame_size: u32,
    pub parameters: *const u8,
    pub parameters_len: u32,
    pub warmup: u32,
    pub orders_max: u32,
    pub trades_max: u32,
    pub working_max: u32,
    pub time: *const f64,
    pub open: *const f64,
    pub high: *const f64,
    pub low: *const f64,
    pub close: *const f64,
    pub volume: *const f64,
    pub orders: *mut Order,
    pub results: *const i32,
    pub trades: u32,
    pub working: *const i32,
    pub count: u32,
    pub results_count: u32,
    pub working_orders: u32,
    pub open_trades: u32,
    pub trades_count: u32,
    pub working_count: u32,
    pub cash: f64,
    pub equity: f64,
    pub quantity: f64,
    pub entry_price: f64,
    pub initial_balance: f64,
    pub timeframe_ms: f64,
    pub first_index: u32,
    pub columns_capacity: u32,
}

const _: () = assert!(core::mem::size_of::<Order>() == 112 && core::mem::size_of::<Frame>() == 152);

#[no_mangle]
pub extern "C" fn abi_version() -> i32 {
    1
}

// ---- Memory: blocks from the end of the linker's data on, never freed ----

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

/// The text from a key's value on; `None` if the key is absent.
pub fn find_value<'a>(json: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut at = 0;
    while at < json.len() {
        if json[at] == b'"' {
            let begin = at + 1;
            at = begin;
            while at < json.len() && json[at] != b'"' {
                // Step past an escaped quote.
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

/// A number; `default` if the key is absent.
pub fn read_number(json: &[u8], key: &[u8], default: f64) -> f64 {
    let value = match find_value(json, key) {
        Some(value) => value,
        None => return default,
    };
    let end = value.iter().position(|byte| matches!(byte, b',' | b'}')).unwrap_or(value.len());
    match core::str::from_utf8(&value[..end]).ok().and_then(|text| text.parse().ok()) {
        Some(number) => number,
        None => give_up("a parameter is not a number"),
    }
}
