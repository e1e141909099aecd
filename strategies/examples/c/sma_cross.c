/* The built-in sma-cross: long when the fast average crosses above the slow one, short or out when it crosses below. */
#include "hindcast.h"

static Line *crossing;
static double stop_loss, take_profit;
static bool shorts;

void prepare(void) {
  Line *fast = sma(closes, read_number("fast", 10)), *slow = sma(closes, read_number("slow", 30));
  if (fast->period >= slow->period) give_up("fast must be less than slow");
  frame->warmup = slow->period + 1;
  crossing = cross(fast, slow);
  stop_loss = read_number("stopLossLevel", 0);
  take_profit = read_number("takeProfitLevel", 0);
  shorts = !read_text_is("direction", "long", 0);
}

void decide(void) {
  if (crossing->now == 0) return;
  cancel_all();
  if (crossing->now * frame->quantity > 0) return;
  if (crossing->now > 0 || shorts) set_guards(place(crossing->now), stop_loss, take_profit);
  else if (frame->quantity > 0) close_all(1);
}
