/* Holds, in equal parts, the markets that close above the mean of their own last days that have closed. Reads the input `daily`. */
#include "hindcast_markets.h"

static i32 daily;
static u32 days;
static double min_trade;

void prepare(void) {
  daily = ask_input("daily");
  days = (u32)read_number("days", 3);
  min_trade = read_number("minTrade", 0.05);
  /* As many days as hours come before the range. */
  frame->warmup = days;
}

static bool rises(const Markets *markets, u32 n) {
  const Market *market = &markets->rows[n];
  const Input *input = input_of(n, daily);
  if (!is_member(market) || market->count == 0 || input->count < days) return 0;
  double sum = 0;
  for (u32 k = input->count - days; k < input->count; k++) sum += input->close[k];
  return market->close[market->count - 1] > sum / days;
}

void decide_on(Markets *markets) {
  u32 rising = 0;
  for (u32 n = 0; n < markets->count; n++) rising += rises(markets, n);
  for (u32 n = 0; n < markets->count; n++) {
    if (rises(markets, n)) markets->rows[n].target_weight = 1.0 / rising;
  }
  send_targets(min_trade);
}
