/* Places an order for each line and each number, at its value as the limit price. */
#include "hindcast.h"

static Line *lines[16];
static u32 count;
static i32 zone;

void prepare(void) {
  double period = read_number("period", 0), slow = 2 * period + 3;
  Line *macd = combine(ema(closes, period), -1, ema(closes, slow));
  lines[count++] = sma(closes, period);
  lines[count++] = ema(closes, period);
  lines[count++] = wilder(closes, period);
  lines[count++] = stddev(closes, period);
  lines[count++] = rsi(closes, period);
  lines[count++] = highest(highs, period);
  lines[count++] = lowest(lows, period);
  lines[count++] = atr(period);
  lines[count++] = macd;
  lines[count++] = ema(macd, period);
  lines[count++] = combine(sma(closes, period), 2, stddev(closes, period));
  lines[count++] = cross(closes, sma(closes, period));
  frame->orders_max = 128;
  zone = ask_zone("America/New_York");
}

static void show(double value) {
  Order *order = buy();
  order->type = LIMIT;
  order->limit_price = value != value ? 1e300 : value == 0 ? 2e300 : value;
}

/* All parts in one number. */
static double join(Moment at) {
  return ((((at.year * 13. + at.month) * 32 + at.day) * 7 + at.weekday) * 24 + at.hour) * 60 + at.minute;
}

void decide(void) {
  u32 i = frame->count - 1;
  double time = frame->time[i];
  show(join(utc(time - i * 129600000017.)));
  show(join(local(time + i * 133200000., zone)));
  for (u32 n = 0; n < count; n++) show(lines[n]->now);
  if (frame->count > 1) return;
  char key[] = "n00";
  for (u32 n = 0; n < 100; n++) {
    key[1] = '0' + n / 10;
    key[2] = '0' + n % 10;
    show(read_number(key, -77));
  }
  show(read_flag("yes", 0) && !read_flag("no", 1) && read_flag("none", 1));
  show(read_text_is("text", "plain", 0) && !read_text_is("text", "plai", 1) && read_text_is("none", "", 1));
}
