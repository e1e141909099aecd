//! The winners of the last months, in equal parts: the built-in Momentum Rotation.
mod hindcast;
mod hindcast_markets;
use hindcast::*;
use hindcast_markets::*;

struct Rotation { top: usize, lookback: usize, skip: usize, filter: f64, exposure: f64, min_trade: f64, every: Period }
portfolio!(Rotation);

impl Portfolio for Rotation {
    fn prepare(frame: &mut Frame) -> Rotation {
        let [top, lookback, skip] = [("top", 3.0), ("lookback", 126.0), ("skip", 0.0)].map(|(key, n)| frame.number(key, n) as usize);
        assert!(skip < lookback, "skip must be less than lookback");
        frame.warmup = lookback as u32 + 1;
        let [filter, exposure, min_trade] =
            [("filter", 0.0), ("exposure", 1.0), ("minTrade", 0.0)].map(|(key, n)| frame.number(key, n));
        Rotation { top, lookback, skip, filter, exposure, min_trade, every: Period::named(frame.text("every", "month")) }
    }

    fn every(&self) -> Period { self.every }

    fn decide(&mut self, _frame: &Frame, markets: &mut Markets, _orders: &mut MarketOrders) {
        let mut ranked: Vec<(usize, f64)> = markets.list().iter().enumerate()
            .filter(|(_, market)| market.is_member() && market.close().len() > self.lookback)
            .map(|(n, market)| (n, market.close()))
            .map(|(n, close)| (n, close[close.len() - 1 - self.skip] / close[close.len() - 1 - self.lookback] - 1.0))
            .filter(|(_, past)| *past >= self.filter)
            .collect();
        // Of equal ones those that are listed first are held.
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        for (n, _) in ranked.into_iter().take(self.top) { markets.target(n, self.exposure / self.top as f64); }
        markets.send_targets(self.min_trade);
    }
}
