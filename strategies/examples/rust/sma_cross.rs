//! The built-in sma-cross: long when the fast average crosses above the slow one, short or out when it crosses below.
mod hindcast;
use hindcast::*;

struct SmaCross { crossing: Line, entry: Order, shorts: bool }
strategy!(SmaCross);

impl Strategy for SmaCross {
    fn prepare(frame: &mut Frame) -> SmaCross {
        let (fast, slow) = (frame.number("fast", 10.0), frame.number("slow", 30.0));
        assert!(fast < slow, "fast must be less than slow");
        frame.warmup = slow as u32 + 1;
        let crossing = cross(sma(closes(), fast), sma(closes(), slow));
        let entry = Order::default().guarded(frame.number("stopLossLevel", 0.0), frame.number("takeProfitLevel", 0.0));
        SmaCross { crossing, entry, shorts: frame.text("direction", "both") == "both" }
    }

    fn decide(&mut self, frame: &Frame, orders: &mut Orders) {
        let side = self.crossing.now() as i32;
        if side != 0 { orders.cancel_all(); }
        if side == 0 || f64::from(side) * frame.quantity > 0.0 { return; }
        if side > 0 || self.shorts { orders.place(Order { side, ..self.entry }); }
        else if frame.quantity > 0.0 { orders.close(1.0); }
    }
}
