/*
 * Strategies in C that decide on many markets at once, beside hindcast.h: "Many markets" of strategies/ABI.md explains every field.
 * Include it in one source file that defines prepare(), which reads parameters, and decide_on(), which is called at the first close
 * of each period. Lines of hindcast.h belong to one market: they have no values here.
 */
#ifndef HINDCAST_MARKETS_H
#define HINDCAST_MARKETS_H

#include "hindcast.h"

/* A market at this moment: its newest closed candle is at count - 1. */
typedef struct {
  /* Such as SPY@ARCA. Nothing ends it but its length. */
  const char *id;
  u32 id_len;
  const double *time, *open, *high, *low, *close, *volume;
  u32 count, flags;
  double quantity, entry_price, weight;
  /* The weight that it is brought to, if the decision has targets. */
  double target_weight;
  /* 1 leaves it alone. */
  u32 keep, reserved;
} Market;

/* Bits of a market's flags: a candle of it closed at this moment; it may be entered now. */
enum { HAS_CLOSED = 1, IS_MEMBER = 2 };

/* The markets of a run, in the order in which they were listed. */
typedef struct {
  u32 count;
  Market *rows;
  /* Milliseconds since 1970. */
  double now;
  double min_trade;
  u32 has_targets;
  i32 *order_markets;
  const char *tag;
  u32 tag_len;
  /* The market of each row of frame->trades and frame->details, of frame->working, and of frame->fills. */
  const i32 *trade_markets, *working_markets, *fill_markets;
  const Input *const *input_tables;
} Markets;

_Static_assert(sizeof(Market) == 80 && sizeof(Markets) == 56, "the layout of ABI version 1");

/* Periods after which a strategy decides. */
enum { EVERY_CLOSE, EVERY_DAY, EVERY_WEEK, EVERY_MONTH, EVERY_QUARTER };

/* The strategy's own: called at the first close of each period. */
void decide_on(Markets *markets);

static Markets *all_markets;
static i32 period_of_decisions;
static i32 market_of_orders;
static u32 rows_with_market;

/* Sets the period; called in prepare(). Without it, every close is one. */
static inline void decide_every(i32 period) { period_of_decisions = period; }

/* The period that a parameter names: day, week, month or quarter; `fallback` if the key is absent. */
static inline i32 read_period(const char *key, i32 fallback) {
  if (!find_value(key)) return fallback;
  if (read_text_is(key, "day", 0)) return EVERY_DAY;
  if (read_text_is(key, "week", 0)) return EVERY_WEEK;
  if (read_text_is(key, "month", 0)) return EVERY_MONTH;
  if (read_text_is(key, "quarter", 0)) return EVERY_QUARTER;
  refuse_parameter(key, " is none of day, week, month and quarter");
}

static inline bool is_member(const Market *market) { return (market->flags & IS_MEMBER) != 0; }
static inline bool has_closed(const Market *market) { return (market->flags & HAS_CLOSED) != 0; }

/* A market's own candles of an input, or longer ones, by the place that ask_input() or ask_resampled() gave. */
static inline const Input *input_of(u32 market, i32 place) { return &all_markets->input_tables[market][place]; }

/* Sends the targets of all markets: a market without one is closed. Smaller differences, as fractions of equity, are left. */
static inline void send_targets(double min_trade) {
  all_markets->has_targets = 1;
  all_markets->min_trade = min_trade;
}

/* The tag of the targets' orders and trades. */
static inline void set_targets_tag(const char *tag) {
  all_markets->tag = tag;
  all_markets->tag_len = length_of(tag);
}

static inline void name_market_of_orders(void) {
  for (; rows_with_market < rows; rows_with_market++) all_markets->order_markets[rows_with_market] = market_of_orders;
}

/* Says that the orders from here on, such as buy() and close_all(), are for this market. */
static inline void for_market(u32 market) {
  name_market_of_orders();
  market_of_orders = (i32)market;
}

/* ---- Calls from Hindcast ---- */

/* A module with on_markets() is not asked about one market. */
void decide(void) {}

EXPORT(every) i32 every(void) { return period_of_decisions; }

EXPORT(on_markets) i32 on_markets(Frame *shared, Markets *markets) {
  frame = shared;
  all_markets = markets;
  rows = rows_with_market = 0;
  /* Orders without for_market() are refused by this number. */
  market_of_orders = -1;
  decide_on(markets);
  name_market_of_orders();
  return (i32)rows;
}

#endif
