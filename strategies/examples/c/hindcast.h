/*
 * Strategies in C: version 1 of strategies/ABI.md, which explains every field. Include it in one source file that defines
 * prepare(), which reads parameters and makes lines, and decide(), which is called at each candle's close.
 */
#ifndef HINDCAST_H
#define HINDCAST_H

typedef unsigned int u32;
typedef int i32;
typedef _Bool bool;

#define EXPORT(name) __attribute__((export_name(#name)))
#define IMPORT(name) __attribute__((import_module("env"), import_name(#name)))

/* ---- The memory that Hindcast shares ---- */

/* 0 in a price, distance or fraction of an order means none. */
typedef struct {
  i32 action, side, type, size_by;
  double size;
  double limit_price, stop_price;
  double stop_loss, take_profit;
  double stop_loss_fraction, take_profit_fraction;
  double trail_distance, trail_fraction;
  u32 candles_max, time_stop_candles, flags;
  i32 target;
  const char *tag;
  u32 tag_len;
} Order;

enum { PLACE = 1, CLOSE, CLOSE_TRADE, CANCEL, CANCEL_ALL, REPLACE, PROTECT };
enum { MARKET, LIMIT, STOP, STOP_LIMIT };
enum { BY_DEFAULT, BY_UNITS, BY_EQUITY_FRACTION, BY_CASH, BY_RISK_FRACTION };
enum { REDUCE_ONLY = 1 };
enum { KEEP_STOP_LOSS = 1, KEEP_TAKE_PROFIT = 2 };

typedef struct {
  i32 number;
  double quantity, entry_price;
} Trade;

/* What is known of the open trade in the same row; prices are 0 for none. */
typedef struct {
  i32 order, entry_index;
  double entry_time, stop_loss, take_profit, trailing_stop, best_price, worst_price, profit;
  u32 tag_len, reserved;
  char tag[64];
} Details;

/* A fill since the last decision: reason is -1 for an entry, else the number of an exit reason. */
typedef struct {
  i32 order, trade, index, side, reason, entry_order, entry_index;
  u32 tag_len;
  double price, quantity, fee, time, entry_price, entry_time, profit, fees, best_price, worst_price;
  char tag[64];
} Fill;

/* Other candles that have closed: the newest is at count - 1. */
typedef struct {
  const double *time, *open, *high, *low, *close, *volume;
  u32 count, columns_capacity;
} Input;

typedef struct {
  u32 abi_version, frame_size;
  const char *parameters;
  u32 parameters_len;
  u32 warmup, orders_max, trades_max, working_max;
  const double *time, *open, *high, *low, *close, *volume;
  Order *orders;
  const i32 *results;
  const Trade *trades;
  const i32 *working;
  u32 count, results_count;
  u32 working_orders, open_trades, trades_count, working_count;
  double cash, equity, quantity, entry_price, initial_balance;
  double timeframe_ms;
  u32 first_index, columns_capacity;
  const Input *inputs;
  u32 inputs_count;
  /* Set fills_max and has_details in prepare() to have these tables. */
  u32 fills_max, has_details;
  const Details *details;
  const Fill *fills;
  u32 fills_count;
} Frame;

_Static_assert(sizeof(Order) == 112 && sizeof(Input) == 32 && sizeof(Frame) == 184, "the layout of ABI version 1");
_Static_assert(sizeof(Details) == 136 && __builtin_offsetof(Details, tag) == 72, "the layout of ABI version 1");
_Static_assert(sizeof(Fill) == 176 && __builtin_offsetof(Fill, tag) == 112, "the layout of ABI version 1");

/* The candles, the account and the requests of prepare(), such as frame->warmup. */
static Frame *frame;

/* The strategy's own: called once, and at the close of each candle on which a decision is due. */
void prepare(void);
void decide(void);

/* ---- Messages ---- */

IMPORT(abort) _Noreturn void hindcast_abort(const char *message, u32 length);
IMPORT(log) void hindcast_log(const char *message, u32 length);
IMPORT(input) i32 hindcast_input(const char *name, u32 length);
IMPORT(resample) i32 hindcast_resample(const char *timeframe, u32 length);
IMPORT(zone) i32 hindcast_zone(const char *name, u32 length);
IMPORT(zone_offset) double hindcast_zone_offset(i32 zone, double time);
IMPORT(plot) i32 hindcast_plot(const char *name, u32 length, const char *pane, u32 pane_length);
IMPORT(draw) void hindcast_draw(i32 plot, double value);

static inline u32 length_of(const char *text) {
  u32 length = 0;
  while (text[length]) length++;
  return length;
}

/* Ends the run with a message. */
static inline _Noreturn void give_up(const char *message) { hindcast_abort(message, length_of(message)); }

static inline void log_line(const char *line) { hindcast_log(line, length_of(line)); }

/* ---- Inputs: other candles, see parameters.inputs ---- */

/* The place of an input, for input_at(); called in prepare(). A run without an input of this name ends. */
static inline i32 ask_input(const char *name) { return hindcast_input(name, length_of(name)); }

/* The place of longer candles, such as "1d", which are made of the run's own; called in prepare(). */
static inline i32 ask_resampled(const char *timeframe) { return hindcast_resample(timeframe, length_of(timeframe)); }

/* An input, in decide(). */
static inline const Input *input_at(i32 place) { return &frame->inputs[place]; }

/* ---- Times: parts of milliseconds since 1970, such as those of frame->time ---- */

/* Month 1 to 12, weekday 0 (Sunday) to 6. */
typedef struct {
  i32 year, month, day, weekday, hour, minute;
} Moment;

/* The parts by UTC. */
static inline Moment utc(double time) {
  if (!(time > -62167219200000.0 && time < 253433923200000.0)) give_up("a time is not of the years 1 to 9999");
  double days = __builtin_floor(time / 86400000);
  u32 minutes = (u32)((time - days * 86400000) / 60000);
  /* Days since the first of March of the year 0: a leap day ends its year, its 4, its 100 and its 400 years. */
  u32 day = (u32)((i32)days + 719468), weekday = (day + 3) % 7, eras = day / 146097;
  u32 centuries = (day -= eras * 146097) / 36524;
  centuries -= centuries == 4;
  u32 fours = (day -= centuries * 36524) / 1461, years = (day -= fours * 1461) / 365;
  years -= years == 4;
  day -= years * 365;
  /* Months from March on have 31, 30, 31, 30 and 31 days, and again: 153 days in five. */
  u32 month = (5 * day + 2) / 153;
  i32 year = (i32)(400 * eras + 100 * centuries + 4 * fours + years + (month >= 10));
  return (Moment){
    year, (i32)(month < 10 ? month + 3 : month - 9), (i32)(day - (153 * month + 2) / 5 + 1), (i32)weekday,
    (i32)(minutes / 60), (i32)(minutes % 60),
  };
}

/* A time zone by its name, such as America/New_York, for local(). A name that there is not ends the run. */
static inline i32 ask_zone(const char *name) { return hindcast_zone(name, length_of(name)); }

/* The parts by the clocks of a zone, with its daylight-saving time. */
static inline Moment local(double time, i32 zone) { return utc(time + hindcast_zone_offset(zone, time)); }

/* ---- Plots: series of your own, drawn on the result ---- */

/* A plot for draw(). Its pane is a name that plots share, "price" over the candles, or "" for what its values fit. */
static inline i32 ask_plot(const char *name, const char *pane) {
  return hindcast_plot(name, length_of(name), pane, length_of(pane));
}

/* Draws a value at the deciding candle, in decide(). */
static inline void draw(i32 plot, double value) { hindcast_draw(plot, value); }

/* ---- Memory: blocks from the end of the linker's data on, zeroed, never freed ---- */

extern unsigned char __heap_base;
static u32 heap_end;

EXPORT(alloc) void *alloc(u32 size) {
  if (heap_end == 0) heap_end = ((u32)&__heap_base + 7) & ~7u;
  u32 block = heap_end;
  heap_end += (size + 7) & ~7u;
  i32 missing = (i32)((heap_end + 65535) >> 16) - (i32)__builtin_wasm_memory_size(0);
  if (missing > 0 && __builtin_wasm_memory_grow(0, missing) == (__SIZE_TYPE__)-1) return 0;
  return (void *)block;
}

static inline void *require(u32 size) {
  void *block = alloc(size);
  if (!block) give_up("out of memory");
  return block;
}

/* ---- Parameters: one JSON object without spaces ---- */

static inline bool begins_with(const char *at, const char *end, const char *text) {
  for (; *text; at++, text++) {
    if (at == end || *at != *text) return 0;
  }
  return 1;
}

/* The start of a key's value; 0 if the key is absent. Keys of objects within the object are not found. */
static inline const char *find_value(const char *key) {
  const char *end = frame->parameters + frame->parameters_len;
  i32 depth = 0;
  for (const char *at = frame->parameters; at < end; at++) {
    depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
    if (*at != '"') continue;
    const char *name = at + 1;
    for (at++; *at != '"'; at++) at += *at == '\\';
    bool is_key = depth == 1 && at + 1 < end && at[1] == ':';
    if (is_key && (u32)(at - name) == length_of(key) && begins_with(name, end, key)) return at + 2;
  }
  return 0;
}

static inline _Noreturn void refuse_parameter(const char *key, const char *reason) {
  u32 length = length_of(key) + length_of(reason), at = 0;
  char *message = require(length + 1);
  while (*key) message[at++] = *key++;
  while (*reason) message[at++] = *reason++;
  hindcast_abort(message, length);
}

/* digits x 10^exponent, rounded once: high + low holds about 106 bits. */
static inline double scale_decimal(unsigned long long digits, i32 exponent) {
  double high = (double)digits, low = (double)(long long)(digits - (unsigned long long)high);
  for (; exponent != 0 && high != 0; exponent += exponent < 0 ? 1 : -1) {
    double next, rest;
    if (exponent > 0) {
      next = 8 * high + 2 * high;
      rest = (8 * high - next) + 2 * high + 10 * low;
    } else {
      next = high / 10;
      rest = ((high - 8 * next) - 2 * next + low) / 10;
    }
    high = next + rest;
    low = rest - (high - next);
  }
  return high;
}

/* A number; `fallback` if the key is absent. */
static inline double read_number(const char *key, double fallback) {
  const char *at = find_value(key), *end = frame->parameters + frame->parameters_len;
  if (!at) return fallback;
  bool negative = *at == '-', fraction = 0, any = 0;
  unsigned long long digits = 0;
  i32 exponent = 0;
  for (at += negative; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && any && !fraction)); at++) {
    if (*at == '.') {
      fraction = 1;
    } else {
      any = 1;
      /* JSON.stringify writes at most 17 digits that are not 0. */
      if (digits < 100000000000000000ull) digits = digits * 10 + (u32)(*at - '0'), exponent -= fraction;
      else exponent += !fraction;
    }
  }
  if (any && at < end && *at == 'e') {
    bool down = *++at == '-';
    i32 power = 0;
    for (at += *at == '-' || *at == '+'; at < end && *at >= '0' && *at <= '9'; at++) power = power * 10 + (*at - '0');
    exponent += down ? -power : power;
  }
  if (!any || (*at != ',' && *at != '}')) refuse_parameter(key, " is not a number");
  double value = scale_decimal(digits, exponent);
  return negative ? -value : value;
}

/* True if the parameter is true; `fallback` if the key is absent. */
static inline bool read_flag(const char *key, bool fallback) {
  const char *at = find_value(key);
  return at ? *at == 't' : fallback;
}

/* True if the parameter is this text, which has no characters that JSON escapes; `fallback` if the key is absent. */
static inline bool read_text_is(const char *key, const char *text, bool fallback) {
  const char *at = find_value(key), *end = frame->parameters + frame->parameters_len;
  if (!at) return fallback;
  return *at == '"' && begins_with(at + 1, end, text) && at[1 + length_of(text)] == '"';
}

/* ---- Orders: each call fills in the next row of this decision. Rows are zero, so fill in only what matters. ---- */

static u32 rows;

static inline Order *next_row(i32 action) {
  if (rows == frame->orders_max) give_up("more orders in a decision than frame->orders_max");
  Order *order = &frame->orders[rows++];
  order->action = action;
  return order;
}

/* Places an order: 1 buys, -1 sells. At market and sized by default, unless its fields say otherwise. */
static inline Order *place(i32 side) {
  Order *order = next_row(PLACE);
  order->side = side;
  return order;
}

static inline Order *buy(void) { return place(1); }
static inline Order *sell(void) { return place(-1); }

/* Closes this fraction of each open trade. */
static inline Order *close_all(double fraction) {
  Order *order = next_row(CLOSE);
  order->size = fraction;
  return order;
}

/* Closes this fraction of one trade. */
static inline Order *close_trade(i32 trade, double fraction) {
  Order *order = next_row(CLOSE_TRADE);
  order->target = trade;
  order->size = fraction;
  return order;
}

static inline void cancel(i32 order) { next_row(CANCEL)->target = order; }
static inline void cancel_all(void) { next_row(CANCEL_ALL); }

/* Withdraws a working order and places another instead. */
static inline Order *replace(i32 working, i32 side) {
  Order *order = next_row(REPLACE);
  order->target = working;
  order->side = side;
  return order;
}

/* Sets the stop loss and take profit of an open trade, as prices; 0 removes one. */
static inline Order *protect(i32 trade, double stop_loss, double take_profit) {
  Order *order = next_row(PROTECT);
  order->target = trade;
  order->stop_loss = stop_loss;
  order->take_profit = take_profit;
  return order;
}

/* Move one guard of an open trade, and keep the other. */
static inline void move_stop_loss(i32 trade, double price) { protect(trade, price, 0)->flags = KEEP_TAKE_PROFIT; }
static inline void move_take_profit(i32 trade, double price) { protect(trade, 0, price)->flags = KEEP_STOP_LOSS; }

/* Stops of the trade that an order opens, as fractions of its entry price. */
static inline void set_guards(Order *order, double stop_loss_fraction, double take_profit_fraction) {
  order->stop_loss_fraction = stop_loss_fraction;
  order->take_profit_fraction = take_profit_fraction;
}

static inline void set_tag(Order *order, const char *tag) {
  order->tag = tag;
  order->tag_len = length_of(tag);
}

/* ---- Lines: columns of candles and indicators, one value a candle, equal to the built-in strategies' to the bit ---- */

#define PERIOD_MAX 10000

typedef struct Line Line;
struct Line {
  /* The values at the newest candle and at the one before; NaN where there is none. */
  double now, before;
  u32 period;
  /* The rest belongs to this header. */
  double (*step)(Line *);
  const Line *a, *b, *c;
  double weight, average, other;
  /* Values of a block of `period`, and for each of them what they and those behind them come to. */
  double *values, *tails, *tail_rests;
  u32 count;
  Line *next;
};

static Line columns[6];
static Line *const times = &columns[0], *const opens = &columns[1], *const highs = &columns[2], *const lows = &columns[3];
static Line *const closes = &columns[4], *const volumes = &columns[5];
static Line *first_line, **last_link = &first_line;
static u32 candles_seen;

/* A line of your own: `step` returns its value at the newest candle. Sources are made before it. */
static inline Line *new_line(double (*step)(Line *), const Line *a, const Line *b) {
  Line *line = require(sizeof(Line));
  line->now = line->before = line->average = __builtin_nan("");
  line->step = step, line->a = a, line->b = b;
  *last_link = line;
  last_link = &line->next;
  return line;
}

static inline Line *new_window(double (*step)(Line *), const Line *values, double period) {
  if (!(period >= 1 && period <= PERIOD_MAX)) give_up("a period must be 1 to 10000 candles");
  Line *line = new_line(step, values, 0);
  line->period = (u32)period;
  line->values = require(line->period * 8);
  line->tails = require(line->period * 8);
  line->tail_rests = require(line->period * 8);
  return line;
}

/* Adds a value to a pair of doubles, which stands for their unrounded sum. */
static inline void add_to_pair(double *high, double *low, double value) {
  double sum = *high + value, part = sum - *high;
  *low += (*high - (sum - part)) + (value - part);
  *high = sum;
}

/* (high + low) / divisor, rounded once. */
static inline double divide_pair(double high, double low, double divisor) {
  double quotient = high / divisor, scaled = quotient * 134217729.0;
  double upper = scaled - (scaled - quotient), lower = quotient - upper;
  return quotient + ((high - upper * divisor) - lower * divisor + low) / divisor;
}

static inline double step_sma(Line *line) {
  double value = line->a->now;
  if (value != value) return value;
  u32 place = line->count++ % line->period;
  line->values[place] = value;
  if (place + 1 == line->period) {
    double high = 0, low = 0;
    for (u32 k = line->period; k-- > 0; line->tails[k] = high, line->tail_rests[k] = low) {
      add_to_pair(&high, &low, line->values[k]);
    }
    line->average = line->other = 0;
    return divide_pair(high, low, line->period);
  }
  /* `average` and `other` hold the sum of the values after the last block. */
  if (line->count == 1) line->average = line->other = 0;
  add_to_pair(&line->average, &line->other, value);
  if (line->count < line->period) return __builtin_nan("");
  double high = line->tails[place + 1], sum = high + line->average, part = sum - high;
  double low = (high - (sum - part)) + (line->average - part) + (line->tail_rests[place + 1] + line->other);
  return divide_pair(sum, low, line->period);
}

/* Simple moving average. */
static inline Line *sma(const Line *values, double period) { return new_window(step_sma, values, period); }

/* The mean of the first `period` of these values. */
static inline double mean_of(const double *values, u32 period) {
  double high = 0, low = 0;
  for (u32 k = period; k-- > 0;) add_to_pair(&high, &low, values[k]);
  return divide_pair(high, low, period);
}

static inline double step_smoothing(Line *line) {
  double value = line->a->now;
  if (value != value) return value;
  if (line->count < line->period) {
    line->values[line->count++] = value;
    if (line->count == line->period) line->average = mean_of(line->values, line->period);
  } else {
    line->average += line->weight * (value - line->average);
  }
  return line->average;
}

/* Wilder's average: exponential, with the weight 1 / period. */
static inline Line *wilder(const Line *values, double period) {
  Line *line = new_window(step_smoothing, values, period);
  line->weight = 1 / period;
  return line;
}

/* Exponential average, with the weight 2 / (period + 1). */
static inline Line *ema(const Line *values, double period) {
  Line *line = new_window(step_smoothing, values, period);
  line->weight = 2 / (period + 1);
  return line;
}

static inline double step_stddev(Line *line) {
  double value = line->a->now;
  if (value != value) return value;
  u32 place = line->count++ % line->period, period = line->period;
  line->values[place] = value;
  if (place + 1 == period) {
    double mean = 0, squares = 0;
    for (u32 k = period; k-- > 0; line->tails[k] = mean, line->tail_rests[k] = squares) {
      double step = line->values[k] - mean;
      mean += step / (period - k);
      squares += step * (line->values[k] - mean);
    }
    line->average = line->other = 0;
    return __builtin_sqrt(squares / period);
  }
  if (line->count == 1) line->average = line->other = 0;
  double heads = place + 1, step = value - line->average;
  line->average += step / heads;
  line->other += step * (value - line->average);
  if (line->count < period) return __builtin_nan("");
  double between = line->average - line->tails[place + 1];
  double squares = line->tail_rests[place + 1] + line->other + between * between * (heads * (period - heads) / period);
  return __builtin_sqrt(squares / period);
}

/* Standard deviation, of a population. */
static inline Line *stddev(const Line *values, double period) { return new_window(step_stddev, values, period); }

static inline double step_highest(Line *line) {
  double value = line->weight * line->a->now;
  if (value != value) return value;
  u32 place = line->count++ % line->period;
  line->values[place] = value;
  line->average = place == 0 || value > line->average ? value : line->average;
  double highest = line->average;
  if (place + 1 == line->period) {
    highest = value;
    for (u32 k = line->period; k-- > 0; line->tails[k] = highest) {
      if (line->values[k] > highest) highest = line->values[k];
    }
  } else if (line->count < line->period) {
    return __builtin_nan("");
  } else if (line->tails[place + 1] > highest) {
    highest = line->tails[place + 1];
  }
  return line->weight * highest;
}

/* The highest of the last `period` values. */
static inline Line *highest(const Line *values, double period) {
  Line *line = new_window(step_highest, values, period);
  line->weight = 1;
  return line;
}

/* The lowest of the last `period` values. */
static inline Line *lowest(const Line *values, double period) {
  Line *line = new_window(step_highest, values, period);
  line->weight = -1;
  return line;
}

static inline double step_rsi(Line *line) {
  double change = line->a->now - line->a->before, size = __builtin_fabs(change);
  if (change != change) return change;
  double rise = 0.5 * size + 0.5 * change, fall = 0.5 * size - 0.5 * change;
  if (line->count < line->period) {
    line->values[line->count] = rise;
    line->tails[line->count++] = fall;
    if (line->count < line->period) return __builtin_nan("");
    line->average = mean_of(line->values, line->period);
    line->other = mean_of(line->tails, line->period);
  } else {
    line->average += line->weight * (rise - line->average);
    line->other += line->weight * (fall - line->other);
  }
  double both = line->average + line->other;
  return both == 0 ? 50 : 100 * line->average / both;
}

/* Wilder's relative strength index. */
static inline Line *rsi(const Line *values, double period) {
  Line *line = new_window(step_rsi, values, period);
  line->weight = 1 / period;
  return line;
}

static inline double step_true_range(Line *line) {
  (void)line;
  double close = closes->before;
  double top = close > highs->now ? close : highs->now, bottom = close < lows->now ? close : lows->now;
  return top - bottom;
}

/* Wilder's average true range. */
static inline Line *atr(double period) { return wilder(new_line(step_true_range, 0, 0), period); }

static inline double step_combine(Line *line) { return line->a->now + line->weight * line->b->now; }

/* a + factor x b: the macd is combine(ema(closes, 12), -1, ema(closes, 26)), a band combine(sma, width, stddev). */
static inline Line *combine(const Line *a, double factor, const Line *b) {
  Line *line = new_line(step_combine, a, b);
  line->weight = factor;
  return line;
}

static inline double step_cross(Line *line) {
  double a = line->a->now, b = line->b->now, last = line->other;
  if (a > b) return line->other = 1, last < 0;
  if (a < b) return line->other = -1, -(last > 0);
  if (a != b) line->other = 0;
  return 0;
}

/* 1 at a candle where `a` crosses above `b`, -1 where it crosses below, else 0. Lines that meet and part again do not cross. */
static inline Line *cross(const Line *a, const Line *b) { return new_line(step_cross, a, b); }

/* ---- Calls from Hindcast ---- */

static inline void set_line(Line *line, double value) {
  line->before = line->now;
  line->now = value;
}

EXPORT(abi_version) i32 abi_version(void) { return 1; }

EXPORT(init) i32 init(Frame *shared) {
  frame = shared;
  for (u32 n = 0; n < 6; n++) columns[n].now = __builtin_nan("");
  prepare();
  return 0;
}

EXPORT(on_candle) i32 on_candle(Frame *shared) {
  frame = shared;
  const double *const *sources = &shared->time;
  /* The first decision may have many candles before it. */
  for (; candles_seen < shared->count; candles_seen++) {
    for (u32 n = 0; n < 6; n++) set_line(&columns[n], sources[n][candles_seen]);
    for (Line *line = first_line; line; line = line->next) set_line(line, line->step(line));
  }
  rows = 0;
  decide();
  return (i32)rows;
}

#endif
