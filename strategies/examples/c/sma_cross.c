/* The built-in sma-cross in C: long when the fast average crosses above the slow one, short or out when it crosses below. */
#include "hindcast.h"

#define PERIOD_MAX 10000

/* ---- The simple moving average of the built-in, rounded once, one candle at a time. ---- */

typedef struct {
  u32 period;
  /* For each value of the last block of `period` values: the sum from it to the block's end, as a pair of doubles. */
  double *tail_high, *tail_low;
  /* The sum of the values after that block. */
  double head_high, head_low;
} Average;

static double divide_pair(double high, double low, double divisor) {
  double quotient = high / divisor;
  double scaled = quotient * 134217729.0;
  double upper = scaled - (scaled - quotient);
  double lower = quotient - upper;
  double rest = (high - upper * divisor) - lower * divisor;
  return quotient + (rest + low) / divisor;
}

static void sum_tails(Average *average, const double *block) {
  double high = 0, low = 0;
  for (i32 k = (i32)average->period - 1; k >= 0; k--) {
    double sum = high + block[k], part = sum - high;
    low += (high - (sum - part)) + (block[k] - part);
    high = sum;
    average->tail_high[k] = high;
    average->tail_low[k] = low;
  }
  average->head_high = average->head_low = 0;
}

/* The mean of the `period` values that end with values[i]. Call it for each i from 0 on. */
static double next_mean(Average *average, const double *values, u32 i) {
  u32 tail = (i + 1) % average->period;
  if (tail == 0) {
    sum_tails(average, values + (i + 1 - average->period));
    return divide_pair(average->tail_high[0], average->tail_low[0], average->period);
  }
  if (i < average->period) return __builtin_nan("");
  double head = average->head_high + values[i], head_part = head - average->head_high;
  average->head_low += (average->head_high - (head - head_part)) + (values[i] - head_part);
  average->head_high = head;
  double high = average->tail_high[tail], sum = high + head, part = sum - high;
  double low = (high - (sum - part)) + (head - part) + (average->tail_low[tail] + average->head_low);
  return divide_pair(sum, low, average->period);
}

/* ---- The strategy. ---- */

static Average fast, slow;
static double fast_now, fast_before, slow_now, slow_before;
static u32 seen;
static i32 shorts;
static double take_profit_level, stop_loss_level;

static void begin(Average *average, double period) {
  if (!(period >= 1 && period <= PERIOD_MAX)) hindcast_abort("a period must be 1 to 10000 candles", 35);
  average->period = (u32)period;
  average->tail_high = alloc(average->period * sizeof(double));
  average->tail_low = alloc(average->period * sizeof(double));
  if (!average->tail_high || !average->tail_low) hindcast_abort("out of memory", 13);
}

EXPORT(init) i32 init(Frame *frame) {
  begin(&fast, read_number(frame, "fast", 10));
  begin(&slow, read_number(frame, "slow", 30));
  if (fast.period >= slow.period) hindcast_abort("fast must be less than slow", 27);
  const char *direction = find_value(frame, "direction");
  shorts = !direction || direction[1] == 'b';
  take_profit_level = read_number(frame, "takeProfitLevel", 0);
  stop_loss_level = read_number(frame, "stopLossLevel", 0);
  frame->warmup = slow.period + 1;
  return 0;
}

static i32 enter(Frame *frame, i32 side) {
  Order *order = frame->orders;
  order->action = PLACE;
  order->side = side;
  order->take_profit_fraction = take_profit_level;
  order->stop_loss_fraction = stop_loss_level;
  return 1;
}

static i32 leave(Frame *frame) {
  frame->orders->action = CLOSE;
  frame->orders->size = 1;
  return 1;
}

EXPORT(on_candle) i32 on_candle(Frame *frame) {
  for (; seen < frame->count; seen++) {
    fast_before = fast_now, slow_before = slow_now;
    fast_now = next_mean(&fast, frame->close, seen);
    slow_now = next_mean(&slow, frame->close, seen);
  }
  if (fast_before < slow_before && fast_now > slow_now) {
    if (frame->quantity <= 0) return enter(frame, 1);
  } else if (slow_before < fast_before && slow_now > fast_now) {
    if (shorts && frame->quantity >= 0) return enter(frame, -1);
    if (frame->quantity > 0) return leave(frame);
  }
  return 0;
}
