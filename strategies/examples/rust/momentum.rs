//! Buys when the close is above the one `candles` before, with a stop loss; closes when it is below.
#![no_std]

mod hindcast;

use core::slice;
use hindcast::{give_up, read_number, Frame, CLOSE, PLACE};

const TAG: &str = "rise";

struct Strategy {
    candles: usize,
    stop_loss: f64,
}

static mut STRATEGY: Strategy = Strategy { candles: 20, stop_loss: 0.1 };

#[no_mangle]
pub unsafe extern "C" fn init(frame: &mut Frame) -> i32 {
    let json = slice::from_raw_parts(frame.parameters, frame.parameters_len as usize);
    let candles = read_number(json, b"candles", 20.0) as usize;
    if candles < 1 {
        give_up("candles must be 1 or more");
    }
    // The first decision needs this many visible candles.
    frame.warmup = candles as u32 + 1;
    STRATEGY = Strategy { candles, stop_loss: read_number(json, b"stopLoss", 0.1) };
    0
}

/// Fills rows of the order table from the first on, and returns their number.
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
