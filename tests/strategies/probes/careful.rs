//! Six candles after a loss a market is entered again. Once a trade was half a percent ahead, its stop is at the entry.
mod hindcast;
mod hindcast_markets;
use hindcast::*;
use hindcast_markets::*;

struct Careful {
    lost_at: [Option<usize>; 16],
    longer: usize,
    plot: Plot,
}

portfolio!(Careful);

impl Portfolio for Careful {
    fn prepare(frame: &mut Frame) -> Careful {
        frame.trades_max = 8;
        frame.working_max = 8;
        frame.fills_max = 16;
        frame.has_details = 1;
        Careful { lost_at: [None; 16], longer: ask_resampled("4h"), plot: Plot::named("four hours", "") }
    }

    fn decide(&mut self, frame: &Frame, markets: &mut Markets, orders: &mut MarketOrders) {
        for (fill, market) in frame.fills().iter().zip(markets.fill_markets(frame)) {
            if fill.reason >= 0 {
                self.lost_at[*market as usize] = if fill.profit > 0.0 { None } else { Some(fill.index as usize) };
            }
        }
        for (n, trade) in frame.trades().iter().enumerate() {
            let details = &frame.details()[n];
            assert!(&details.tag[..details.tag_len as usize] == b"in", "its tag is gone");
            if details.best_price > 1.005 * trade.entry_price && details.stop_loss != trade.entry_price {
                orders.of(markets.trade_markets(frame)[n] as usize).move_stop_loss(trade.number, trade.entry_price);
            }
        }
        for (m, market) in markets.list().iter().enumerate() {
            if market.count == 0 || !market.has_closed() || !market.id().ends_with("@LAB") {
                continue;
            }
            let may_enter = self.lost_at[m].map_or(true, |exit| market.count as usize - 1 - exit >= 6);
            let is_working = markets.working_markets(frame).contains(&(m as i32));
            if market.quantity != 0.0 || is_working || !may_enter {
                continue;
            }
            let limit_price = 0.998 * market.close()[market.count as usize - 1];
            let sized = Order { kind: LIMIT, limit_price, candles_max: 3, size_by: BY_EQUITY_FRACTION, size: 0.2, ..Order::market(1) };
            orders.of(m).place(sized.guarded(0.01, 0.02).tagged("in"));
        }
        if let Some(close) = markets.input_of(1, self.longer).close().last() {
            self.plot.draw(*close);
        }
    }
}
