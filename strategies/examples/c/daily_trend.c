/* Buys when an hour closes above the mean of the last days that have closed, and leaves below it. Reads the input `daily`. */
#include "hindcast.h"

static i32 daily;
static u32 days;

void prepare(void) {
  daily = ask_input("daily");
  days = (u32)read_number("days", 3);
  /* As many days as hours come before the range. */
  frame->warmup = days;
}

void decide(void) {
  const Input *input = input_at(daily);
  if (input->count < days) return;
  double sum = 0;
  for (u32 k = input->count - days; k < input->count; k++) sum += input->close[k];
  double close = frame->close[frame->count - 1], mean = sum / days;
  if (frame->quantity == 0 && close > mean) buy();
  else if (frame->quantity > 0 && close < mean) close_all(1);
}
