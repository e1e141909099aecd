//! Buys when an hour closes above the mean of the last days that have closed, and leaves below it. Reads the input `daily`.
mod hindcast;
use hindcast::*;

struct DailyTrend { daily: usize, days: usize }
strategy!(DailyTrend);

impl Strategy for DailyTrend {
    fn prepare(frame: &mut Frame) -> DailyTrend {
        let days = frame.number("days", 3.0) as usize;
        // As many days as hours come before the range.
        frame.warmup = days as u32;
        DailyTrend { daily: ask_input("daily"), days }
    }

    fn decide(&mut self, frame: &Frame, orders: &mut Orders) {
        let closes = frame.input(self.daily).close();
        if closes.len() < self.days { return; }
        let mean = closes[closes.len() - self.days..].iter().sum::<f64>() / self.days as f64;
        let close = frame.close()[frame.count as usize - 1];
        if frame.quantity == 0.0 && close > mean { orders.place(Order::market(1)); }
        else if frame.quantity > 0.0 && close < mean { orders.close(1.0); }
    }
}
