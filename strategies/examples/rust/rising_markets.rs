//! Holds, in equal parts, the markets that close above the mean of their own last days that have closed. Reads the input `daily`.
mod hindcast;
mod hindcast_markets;
use hindcast::*;
use hindcast_markets::*;

struct RisingMarkets { daily: usize, days: usize, min_trade: f64 }
portfolio!(RisingMarkets);

impl Portfolio for RisingMarkets {
    fn prepare(frame: &mut Frame) -> RisingMarkets {
        let days = frame.number("days", 3.0) as usize;
        // As many days as hours come before the range.
        frame.warmup = days as u32;
        RisingMarkets { daily: ask_input("daily"), days, min_trade: frame.number("minTrade", 0.05) }
    }

    fn decide(&mut self, _frame: &Frame, markets: &mut Markets, _orders: &mut MarketOrders) {
        let rising: Vec<usize> = (0..markets.list().len()).filter(|n| self.rises(markets, *n)).collect();
        for n in &rising { markets.target(*n, 1.0 / rising.len() as f64); }
        markets.send_targets(self.min_trade);
    }
}

impl RisingMarkets {
    fn rises(&self, markets: &Markets, n: usize) -> bool {
        let (market, closes) = (&markets.list()[n], markets.input_of(n, self.daily).close());
        if !market.is_member() || market.count == 0 || closes.len() < self.days { return false; }
        let mean = closes[closes.len() - self.days..].iter().sum::<f64>() / self.days as f64;
        market.close()[market.close().len() - 1] > mean
    }
}
