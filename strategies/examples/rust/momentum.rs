//! Buys when the close is above the one `candles` before, with a stop loss; closes when it is below.
mod hindcast;
use hindcast::*;

struct Momentum {
    candles: usize,
    stop_loss: f64,
}

strategy!(Momentum);

impl Strategy for Momentum {
    fn prepare(frame: &mut Frame) -> Momentum {
        let candles = frame.number("candles", 20.0) as usize;
        assert!(candles >= 1, "candles must be 1 or more");
        // The first decision needs this many visible candles.
        frame.warmup = candles as u32 + 1;
        Momentum { candles, stop_loss: frame.number("stopLoss", 0.1) }
    }

    fn decide(&mut self, frame: &Frame, orders: &mut Orders) {
        let close = frame.close();
        let [now, before] = [close[close.len() - 1], close[close.len() - 1 - self.candles]];
        if now > before && frame.quantity == 0.0 {
            orders.place(Order::market(1).guarded(self.stop_loss, 0.0).tagged("rise"));
        } else if now < before && frame.quantity > 0.0 {
            orders.close(1.0);
        }
    }
}
