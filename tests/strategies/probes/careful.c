/* Six candles after a loss a market is entered again. Once a trade was half a percent ahead, its stop is at the entry. */
#include "hindcast_markets.h"

static struct { double profit; i32 exit; bool has_lost, is_working; } states[16];
static i32 drawn;

void prepare(void) {
  frame->trades_max = frame->working_max = 8;
  frame->fills_max = 16;
  frame->has_details = 1;
  drawn = ask_plot("four hours", "");
  if (ask_resampled("4h") != 0) give_up("it is the first");
}

static void keep_what_was_won(const Markets *markets, u32 n) {
  const Trade *trade = &frame->trades[n];
  const Details *details = &frame->details[n];
  if (details->tag_len != 2 || details->tag[0] != 'i' || details->tag[1] != 'n') give_up("its tag is gone");
  if (details->best_price <= 1.005 * trade->entry_price || details->stop_loss == trade->entry_price) return;
  for_market((u32)markets->trade_markets[n]);
  move_stop_loss(trade->number, trade->entry_price);
}

void decide_on(Markets *markets) {
  for (u32 n = 0; n < frame->fills_count; n++) {
    const Fill *fill = &frame->fills[n];
    if (fill->reason < 0) continue;
    i32 market = markets->fill_markets[n];
    states[market].has_lost = fill->profit <= 0;
    states[market].exit = fill->index;
  }
  for (u32 n = 0; n < frame->trades_count; n++) keep_what_was_won(markets, n);
  for (u32 m = 0; m < markets->count; m++) states[m].is_working = 0;
  for (u32 n = 0; n < frame->working_count; n++) states[markets->working_markets[n]].is_working = 1;
  for (u32 m = 0; m < markets->count; m++) {
    const Market *market = &markets->rows[m];
    if (market->count == 0 || market->id_len != 7 || !has_closed(market)) continue;
    bool may_enter = !states[m].has_lost || (i32)market->count - 1 - states[m].exit >= 6;
    if (market->quantity != 0 || states[m].is_working || !may_enter) continue;
    for_market(m);
    Order *order = buy();
    set_guards(order, 0.01, 0.02);
    set_tag(order, "in");
    order->type = LIMIT;
    order->limit_price = 0.998 * market->close[market->count - 1];
    order->candles_max = 3;
    order->size_by = BY_EQUITY_FRACTION;
    order->size = 0.2;
  }
  const Input *longer = input_of(1, 0);
  if (longer->count > 0) draw(drawn, longer->close[longer->count - 1]);
}
