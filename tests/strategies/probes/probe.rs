//! Places an order for each line and each number, at its value as the limit price.
mod hindcast;
use hindcast::*;

struct Probe { lines: Vec<Line>, zone: Zone }
strategy!(Probe);

impl Strategy for Probe {
    fn prepare(frame: &mut Frame) -> Probe {
        let period = frame.number("period", 0.0);
        let slow = 2.0 * period + 3.0;
        let close = closes();
        let macd = combine(ema(close, period), -1.0, ema(close, slow));
        frame.orders_max = 128;
        Probe {
            lines: vec![
                sma(close, period),
                ema(close, period),
                wilder(close, period),
                stddev(close, period),
                rsi(close, period),
                highest(highs(), period),
                lowest(lows(), period),
                atr(period),
                macd,
                ema(macd, period),
                combine(sma(close, period), 2.0, stddev(close, period)),
                cross(close, sma(close, period)),
            ],
            zone: Zone::named("America/New_York"),
        }
    }

    fn decide(&mut self, frame: &Frame, orders: &mut Orders) {
        let mut show = |value: f64| {
            let limit_price = if value.is_nan() { 1e300 } else if value == 0.0 { 2e300 } else { value };
            orders.place(Order { kind: LIMIT, limit_price, ..Order::market(1) });
        };
        let i = frame.count - 1;
        let time = frame.time()[i as usize];
        show(join(utc(time - f64::from(i) * 129_600_000_017.0)));
        show(join(local(time + f64::from(i) * 133_200_000.0, self.zone)));
        self.lines.iter().for_each(|line| show(line.now()));
        if frame.count > 1 {
            return;
        }
        (0..100).for_each(|n| show(frame.number(&format!("n{n:02}"), -77.0)));
        show(f64::from(u8::from(frame.flag("yes", false) && !frame.flag("no", true) && frame.flag("none", true))));
        show(f64::from(u8::from(frame.text("text", "") == "plain" && frame.text("none", "none") == "none")));
    }
}

/// All parts in one number.
fn join(at: Moment) -> f64 {
    let days = (at.year * 13 + at.month) * 32 + at.day;
    ((f64::from(days) * 7.0 + f64::from(at.weekday)) * 24.0 + f64::from(at.hour)) * 60.0 + f64::from(at.minute)
}
