/* The winners of the last months, in equal parts: the built-in Momentum Rotation. */
#include "hindcast_markets.h"

static u32 top, lookback, skip;
static double filter, exposure, min_trade;

void prepare(void) {
  top = (u32)read_number("top", 3);
  lookback = (u32)read_number("lookback", 126);
  skip = (u32)read_number("skip", 0);
  if (skip >= lookback) give_up("skip must be less than lookback");
  filter = read_number("filter", 0);
  exposure = read_number("exposure", 1);
  min_trade = read_number("minTrade", 0);
  frame->warmup = lookback + 1;
  decide_every(read_period("every", EVERY_MONTH));
}

static double return_of(const Market *market) {
  const double *newest = market->close + market->count - 1;
  return is_member(market) && market->count > lookback ? *(newest - skip) / *(newest - lookback) - 1 : __builtin_nan("");
}

void decide_on(Markets *markets) {
  for (u32 place = 0; place < top; place++) {
    Market *best = 0, *end = markets->rows + markets->count;
    for (Market *market = markets->rows; market < end; market++) {
      bool may_follow = market->target_weight == 0 && return_of(market) >= filter;
      if (may_follow && (!best || return_of(market) > return_of(best))) best = market;
    }
    if (!best) break;
    best->target_weight = exposure / top;
  }
  send_targets(min_trade);
}
