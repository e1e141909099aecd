//! Strategies in Rust that decide on many markets at once, beside hindcast.rs: "Many markets" of strategies/ABI.md explains every
//! field. A strategy implements `Portfolio` and is named in `portfolio!`. Lines of hindcast.rs belong to one market: they have no
//! values here.
#![allow(dead_code)]

use crate::hindcast::*;

/// A market at this moment.
#[repr(C)]
pub struct Market {
    id: *const u8,
    id_len: u32,
    columns: [*const f64; 6],
    pub count: u32,
    flags: u32,
    pub quantity: f64,
    pub entry_price: f64,
    pub weight: f64,
    /// The weight that it is brought to, if the decision has targets.
    pub target_weight: f64,
    /// 1 leaves it alone.
    pub keep: u32,
    reserved: u32,
}

/// Each column, from the first candle to the newest that has closed.
impl Market {
    pub fn time(&self) -> &[f64] {
        self.list(0)
    }
    pub fn open(&self) -> &[f64] {
        self.list(1)
    }
    pub fn high(&self) -> &[f64] {
        self.list(2)
    }
    pub fn low(&self) -> &[f64] {
        self.list(3)
    }
    pub fn close(&self) -> &[f64] {
        self.list(4)
    }
    pub fn volume(&self) -> &[f64] {
        self.list(5)
    }

    /// The instrument, such as SPY@ARCA.
    pub fn id(&self) -> &str {
        std::str::from_utf8(unsafe { std::slice::from_raw_parts(self.id, self.id_len as usize) }).unwrap_or("")
    }

    /// True if a candle of it closed at this moment.
    pub fn has_closed(&self) -> bool {
        self.flags & 1 != 0
    }

    /// True if it may be entered now.
    pub fn is_member(&self) -> bool {
        self.flags & 2 != 0
    }

    fn list(&self, column: usize) -> &[f64] {
        unsafe { std::slice::from_raw_parts(self.columns[column], self.count as usize) }
    }
}

/// The markets of a run, in the order in which they were listed.
#[repr(C)]
pub struct Markets {
    count: u32,
    rows: *mut Market,
    /// Milliseconds since 1970.
    pub now: f64,
    min_trade: f64,
    has_targets: u32,
    order_markets: *mut i32,
    tag: *const u8,
    tag_len: u32,
    trade_markets: *const i32,
    working_markets: *const i32,
    fill_markets: *const i32,
    input_tables: *const *const Input,
}

const _: () = assert!(std::mem::size_of::<Market>() == 80 && std::mem::size_of::<Markets>() == 56);

impl Markets {
    pub fn list(&self) -> &[Market] {
        unsafe { std::slice::from_raw_parts(self.rows, self.count as usize) }
    }

    /// Brings a market to this weight, once `send_targets` is called.
    pub fn target(&mut self, market: usize, weight: f64) {
        self.row(market).target_weight = weight;
    }

    /// Leaves a market alone when targets are sent.
    pub fn keep(&mut self, market: usize) {
        self.row(market).keep = 1;
    }

    /// Sends the targets of all markets: a market without one is closed. Smaller differences, as fractions of equity, are left.
    pub fn send_targets(&mut self, min_trade: f64) {
        self.has_targets = 1;
        self.min_trade = min_trade;
    }

    /// The tag of the targets' orders and trades.
    pub fn tag_targets(&mut self, tag: &'static str) {
        self.tag = tag.as_ptr();
        self.tag_len = tag.len() as u32;
    }

    /// A market's own candles of an input, or longer ones, by the place that `ask_input` or `ask_resampled` gave.
    pub fn input_of(&self, market: usize, place: usize) -> &Input {
        assert!(market < self.count as usize, "there is no market {market}");
        unsafe { &*(*self.input_tables.add(market)).add(place) }
    }

    /// The market of each row of `Frame::trades` and `Frame::details`.
    pub fn trade_markets(&self, frame: &Frame) -> &[i32] {
        unsafe { std::slice::from_raw_parts(self.trade_markets, frame.trades().len()) }
    }

    /// The market of each row of `Frame::working`.
    pub fn working_markets(&self, frame: &Frame) -> &[i32] {
        unsafe { std::slice::from_raw_parts(self.working_markets, frame.working().len()) }
    }

    /// The market of each row of `Frame::fills`.
    pub fn fill_markets(&self, frame: &Frame) -> &[i32] {
        unsafe { std::slice::from_raw_parts(self.fill_markets, frame.fills().len()) }
    }

    fn row(&mut self, market: usize) -> &mut Market {
        assert!(market < self.count as usize, "there is no market {market}");
        unsafe { &mut *self.rows.add(market) }
    }
}

/// The orders of a decision, each for a market.
pub struct MarketOrders<'a> {
    orders: Orders<'a>,
    markets: *mut i32,
    market: i32,
    named: i32,
}

impl<'a> MarketOrders<'a> {
    pub fn new(frame: &'a Frame, markets: &Markets) -> MarketOrders<'a> {
        MarketOrders { orders: Orders::new(frame), markets: markets.order_markets, market: -1, named: 0 }
    }

    /// The orders of a market.
    pub fn of(&mut self, market: usize) -> &mut Orders<'a> {
        self.count();
        self.market = market as i32;
        &mut self.orders
    }

    /// Names the market of the rows so far. Returns their number.
    pub fn count(&mut self) -> i32 {
        for row in self.named..self.orders.count() {
            unsafe { *self.markets.add(row as usize) = self.market };
        }
        self.named = self.orders.count();
        self.named
    }
}

/// A period after which a strategy decides.
#[derive(Clone, Copy)]
pub enum Period {
    Close,
    Day,
    Week,
    Month,
    Quarter,
}

impl Period {
    /// By its name: day, week, month or quarter.
    pub fn named(name: &str) -> Period {
        match name {
            "day" => Period::Day,
            "week" => Period::Week,
            "month" => Period::Month,
            "quarter" => Period::Quarter,
            _ => give_up(&format!("{name} is none of day, week, month and quarter")),
        }
    }
}

/// A strategy for many markets, made once for a run.
pub trait Portfolio {
    /// Reads the parameters, and sets requests of the frame, such as `warmup`.
    fn prepare(frame: &mut Frame) -> Self;
    /// Asked once.
    fn every(&self) -> Period {
        Period::Close
    }
    /// Decides at the first close of each period.
    fn decide(&mut self, frame: &Frame, markets: &mut Markets, orders: &mut MarketOrders);
}

/// Exports a strategy for many markets: Hindcast calls `init`, `every` and `on_markets`.
macro_rules! portfolio {
    ($portfolio:ty) => {
        static mut PORTFOLIO: Option<$portfolio> = None;

        #[no_mangle]
        pub unsafe extern "C" fn init(frame: &mut Frame) -> i32 {
            begin();
            PORTFOLIO = Some(<$portfolio as Portfolio>::prepare(frame));
            0
        }

        #[no_mangle]
        pub extern "C" fn on_candle(_frame: &Frame) -> i32 {
            0
        }

        #[no_mangle]
        pub unsafe extern "C" fn every() -> i32 {
            (*std::ptr::addr_of!(PORTFOLIO)).as_ref().map_or(0, |portfolio| portfolio.every() as i32)
        }

        #[no_mangle]
        pub unsafe extern "C" fn on_markets(frame: &Frame, markets: &mut Markets) -> i32 {
            let mut orders = MarketOrders::new(frame, markets);
            if let Some(portfolio) = &mut *std::ptr::addr_of_mut!(PORTFOLIO) {
                portfolio.decide(frame, markets, &mut orders);
            }
            orders.count()
        }
    };
}
pub(crate) use portfolio;
