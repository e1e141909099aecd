/* The simulator's rules under the default assumptions, in plain C: for engine_bench.c. The same work: decided at a close and filled at the next open, or resting; the opposite position closed and
 * everything put into the new one; whole lots; a fee of each fill's value; the path inside a candle as engine/walk.ts has it;
 * trades with their worst and best prices, orders, equity and position, as the columns of a result.
 *
 * Left out, in C's favour: every other rule and type of order, tags, more than one trade and one order (all that these
 * strategies ever have), sorting, margin calls, progress and requests to stop. Nothing is left out in the simulator's favour,
 * but it jumps from decision to decision, and C asks at every candle. */
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AT_OPEN, FROM_BELOW, FROM_ABOVE };
enum { SIGNAL, STOP_LOSS, TAKE_PROFIT, STILL_OPEN = 255 };
enum { NOTHING, MARKET, LIMIT, STOP };
enum { WORKING, FILLED, CANCELLED, REJECTED = 4 };
enum { NO_REASON, TOO_SMALL, NOTHING_TO_CLOSE = 4, WITHDRAWN = 8, RUN_ENDED = 11 };
enum { A_STOP, AN_ORDER, A_TARGET, NO_EVENT };

/* The columns of a result, in the order of engine/trade_columns.ts and engine/order_columns.ts: numbers, then codes. */
enum { QUANTITY, ENTRY_TIME, ENTRY, EXIT_TIME, EXIT, FEES, PNL, FRACTION, MAE, MFE, TRADE_NUMBERS };
enum { SIDE, EXIT_REASON, AMBIGUOUS, TRADE_CODES };
enum { PLACED_TIME, ORDERED, LIMIT_PRICE, STOP_PRICE, FILLED_QUANTITY, FILL_PRICE, FILL_TIME, ORDER_NUMBERS };
enum { ORDER_SIDE, TYPE, STATUS, REASON, ORDER_CODES };
enum { NUMBERS_MAX = 10, CODES_MAX = 4, ROWS_MIN = 256 };

typedef struct {
  long count, room;
  int numbers, codes, has_candles;
  double *number[NUMBERS_MAX];
  int8_t *code[CODES_MAX];
  int32_t *candles;
} Table;

static long count;
static double *time_, *open_, *high, *low, *close_, *equity, *position;
static double fee_rate, stop_fraction, target_fraction;
static double cash, quantity, entry, entry_fee, stop_price, target_price;
static long entered;
/* The order that waits: its type, whether it only closes, its side and price. */
static int entry_kind, ambiguous, waiting, closes;
static double waiting_side, waiting_level;
static Table trades = {.numbers = TRADE_NUMBERS, .codes = TRADE_CODES, .has_candles = 1};
static Table orders = {.numbers = ORDER_NUMBERS, .codes = ORDER_CODES};

static long add_row(Table *table) {
  if (table->count == table->room) {
    table->room = table->room ? table->room * 2 : ROWS_MIN;
    size_t rows = (size_t)table->room;
    for (int k = 0; k < table->numbers; k++) table->number[k] = realloc(table->number[k], sizeof(double) * rows);
    for (int k = 0; k < table->codes; k++) table->code[k] = realloc(table->code[k], rows);
    if (table->has_candles) table->candles = realloc(table->candles, sizeof(int32_t) * rows);
  }
  return table->count++;
}

static void clear(Table *table) {
  for (int k = 0; k < table->numbers; k++) free(table->number[k]), table->number[k] = NULL;
  for (int k = 0; k < table->codes; k++) free(table->code[k]), table->code[k] = NULL;
  free(table->candles), table->candles = NULL;
  table->count = table->room = 0;
}

/* The mean of each window, summed in pairs of doubles and rounded once: engine/indicators/sma.ts. */
static double divide_pair(double sum, double rest, double divisor) {
  double quotient = sum / divisor, scaled = quotient * 134217729;
  double upper = scaled - (scaled - quotient), lower = quotient - upper;
  return quotient + ((sum - upper * divisor) - lower * divisor + rest) / divisor;
}

static void average(const double *values, long length, long period, double *means) {
  double *tail = malloc(sizeof(double) * (size_t)(period + 1) * 2), *tail_low = tail + period + 1;
  tail[period] = tail_low[period] = 0;
  for (long i = 0; i < period - 1 && i < length; i++) means[i] = NAN;
  for (long block = 0; block + period <= length; block += period) {
    double sum = 0, rest = 0;
    for (long k = period - 1; k >= 0; k--) {
      double value = values[block + k], next = sum + value, part = next - sum;
      rest += (sum - (next - part)) + (value - part);
      tail[k] = sum = next, tail_low[k] = rest;
    }
    means[block + period - 1] = divide_pair(sum, rest, (double)period);
    double head = 0, head_low = 0;
    long end = block + 2 * period - 1 < length ? block + 2 * period - 1 : length;
    for (long i = block + period; i < end; i++) {
      double value = values[i], next = head + value, part = next - head;
      head_low += (head - (next - part)) + (value - part);
      head = next;
      long k = i + 1 - period - block;
      double all = tail[k] + head, share = all - tail[k];
      means[i] = divide_pair(all, (tail[k] - (all - share)) + (head - share) + (tail_low[k] + head_low), (double)period);
    }
  }
  free(tail);
}

/* Largest loss and gain on the way, of what is known to lie between entry and exit: of all of candle `i` at its close. */
static void measure(long row, long i, double price, int at_close) {
  double highest = price, lowest = price;
  for (long k = entry_kind == AT_OPEN ? entered : entered + 1; k < i + at_close; k++) {
    if (high[k] > highest) highest = high[k];
    if (low[k] < lowest) lowest = low[k];
  }
  if (i > entered) {
    if (open_[i] > highest) highest = open_[i];
    if (open_[i] < lowest) lowest = open_[i];
  }
  if (entry_kind != AT_OPEN && i + at_close > entered) {
    double up = entry_kind == FROM_BELOW ? high[entered] : close_[entered];
    double down = entry_kind == FROM_ABOVE ? low[entered] : close_[entered];
    if (up > highest) highest = up;
    if (down < lowest) lowest = down;
  }
  double best = quantity > 0 ? highest - entry : entry - lowest;
  double worst = quantity > 0 ? entry - lowest : highest - entry;
  trades.number[MFE][row] = fmax(0, best) / entry, trades.number[MAE][row] = fmax(0, worst) / entry;
}

static void list_trade(long i, double price, double fee, int reason) {
  double side = quantity > 0 ? 1 : -1, held = fabs(quantity), fees = entry_fee + fee;
  double pnl = side * held * (price - entry) - fees;
  long row = add_row(&trades);
  trades.code[SIDE][row] = (int8_t)side, trades.number[QUANTITY][row] = held;
  trades.number[ENTRY_TIME][row] = time_[entered], trades.number[ENTRY][row] = entry;
  trades.number[EXIT_TIME][row] = reason == STILL_OPEN ? NAN : time_[i];
  trades.number[EXIT][row] = reason == STILL_OPEN ? NAN : price;
  trades.number[FEES][row] = fees, trades.number[PNL][row] = pnl;
  trades.number[FRACTION][row] = pnl / (entry * held), trades.candles[row] = (int32_t)(i - entered);
  trades.code[EXIT_REASON][row] = (int8_t)reason, trades.code[AMBIGUOUS][row] = (int8_t)ambiguous;
  measure(row, i, price, reason == STILL_OPEN);
}

static void leave(long i, double price, int reason) {
  double fee = fabs(quantity) * price * fee_rate;
  list_trade(i, price, fee, reason);
  cash += quantity * price - fee;
  quantity = 0;
}

static void end_order(int status, int reason) {
  orders.code[STATUS][orders.count - 1] = (int8_t)status, orders.code[REASON][orders.count - 1] = (int8_t)reason;
  waiting = NOTHING;
}

static void note_fill(long i, double units, double price) {
  long row = orders.count - 1;
  orders.number[FILLED_QUANTITY][row] = units, orders.number[FILL_PRICE][row] = price;
  orders.number[FILL_TIME][row] = time_[i];
  end_order(FILLED, NO_REASON);
}

static void fill(long i, double price, int kind) {
  double side = waiting_side;
  if (quantity * side < 0) leave(i, price, SIGNAL);
  else if (closes) return end_order(REJECTED, NOTHING_TO_CLOSE);
  if (closes) return note_fill(i, trades.number[QUANTITY][trades.count - 1], price);
  double units = floor(cash / (price * (1 + fee_rate)) / 1e-8 * (1 + 0x1p-50)) / 1e8;
  orders.number[ORDERED][orders.count - 1] = units;
  if (!(units > 0)) return end_order(REJECTED, TOO_SMALL);
  entry_fee = units * price * fee_rate;
  cash -= side * units * price + entry_fee;
  quantity = side * units, entry = price, entered = i, entry_kind = kind, ambiguous = 0;
  stop_price = stop_fraction > 0 ? price * (1 - side * stop_fraction) : NAN;
  target_price = target_fraction > 0 ? price * (1 + side * target_fraction) : NAN;
  note_fill(i, units, price);
}

/* The nearest event on either side of the open. */
typedef struct { double level; int what; } Event;

static void offer(Event *down, Event *up, double direction, double level, int what) {
  Event *event = direction > 0 ? up : down;
  if (event->what != NO_EVENT && direction * level >= direction * event->level) return;
  event->level = level, event->what = what;
}

static void look(long i, int path, Event *down, Event *up) {
  down->what = up->what = NO_EVENT;
  if (quantity != 0) {
    double side = quantity > 0 ? 1 : -1;
    int stopped = side > 0 ? low[i] <= stop_price : high[i] >= stop_price;
    int reached = side > 0 ? high[i] >= target_price : low[i] <= target_price;
    if (stopped && reached) ambiguous = 1;
    if (stopped && (path == 0 || path != side)) offer(down, up, -side, stop_price, A_STOP);
    if (reached && (path == 0 || (path == side && !stopped))) offer(down, up, side, target_price, A_TARGET);
  }
  if (waiting < LIMIT) return;
  double direction = waiting == LIMIT ? -waiting_side : waiting_side;
  if (direction > 0 ? high[i] >= waiting_level : low[i] <= waiting_level) offer(down, up, direction, waiting_level, AN_ORDER);
}

static void walk(long i) {
  double at = open_[i], side = quantity > 0 ? 1 : -1;
  int path = 0;
  if (quantity != 0) {
    if (side > 0 ? at <= stop_price : at >= stop_price) leave(i, at, STOP_LOSS);
    else if (side > 0 ? at >= target_price : at <= target_price) leave(i, at, TAKE_PROFIT);
  }
  if (waiting >= LIMIT) {
    double direction = waiting == LIMIT ? -waiting_side : waiting_side;
    if (direction > 0 ? at >= waiting_level : at <= waiting_level) fill(i, at, AT_OPEN);
  }
  for (;;) {
    Event down, up;
    look(i, path, &down, &up);
    if (down.what == NO_EVENT && up.what == NO_EVENT) break;
    int rises = down.what == NO_EVENT || (up.what != NO_EVENT && up.what < down.what);
    Event event = rises ? up : down;
    int kind = rises ? FROM_BELOW : FROM_ABOVE;
    if (event.what == AN_ORDER) fill(i, event.level, kind), path = rises ? 1 : -1;
    else leave(i, event.level, event.what == A_STOP ? STOP_LOSS : TAKE_PROFIT), path = 0;
  }
  if (path == 0 || quantity == 0) return;
  side = quantity > 0 ? 1 : -1;
  if (path == side && (side > 0 ? close_[i] <= stop_price : close_[i] >= stop_price)) {
    leave(i, stop_price, STOP_LOSS);
  } else if (path != side && (side > 0 ? close_[i] >= target_price : close_[i] <= target_price)) {
    leave(i, target_price, TAKE_PROFIT);
  }
}

static void place(long i, int type, double side, double level, int only_closes) {
  long row = add_row(&orders);
  orders.number[PLACED_TIME][row] = time_[i], orders.code[ORDER_SIDE][row] = (int8_t)side;
  orders.code[TYPE][row] = (int8_t)(type - MARKET), orders.code[STATUS][row] = WORKING, orders.code[REASON][row] = RUN_ENDED;
  orders.number[LIMIT_PRICE][row] = type == LIMIT ? level : NAN, orders.number[STOP_PRICE][row] = type == STOP ? level : NAN;
  orders.number[FILLED_QUANTITY][row] = 0;
  orders.number[ORDERED][row] = orders.number[FILL_PRICE][row] = orders.number[FILL_TIME][row] = NAN;
  waiting = type, waiting_side = side, waiting_level = level, closes = only_closes;
}

/* One candle up to the mark at its close; 0 when nothing is left. */
static int advance(long i, int guarded) {
  if (waiting == MARKET) fill(i, open_[i], AT_OPEN);
  if ((guarded && quantity != 0) || waiting != NOTHING) walk(i);
  double marked = cash + quantity * close_[i];
  equity[i] = marked, position[i] = quantity;
  return marked > 0;
}

static void run_sma(const double *fast, const double *slow, long first, int guarded) {
  for (long i = 0; i < count && advance(i, guarded); i++) {
    if (i < first) continue;
    if (fast[i - 1] < slow[i - 1] && fast[i] > slow[i]) {
      if (quantity <= 0) place(i, MARKET, 1, NAN, 0);
    } else if (fast[i - 1] > slow[i - 1] && fast[i] < slow[i] && quantity >= 0) place(i, MARKET, -1, NAN, 0);
  }
}

/* Milliseconds of processor time. */
static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
  return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

/* Reads candles as columns of doubles: their count, then time, open, high, low, close. 0, or an exit code. */
static int read_candles(const char *path) {
  FILE *file = fopen(path, "rb");
  double header;
  if (!file || fread(&header, 8, 1, file) != 1) return 3;
  count = (long)header;
  double **columns[] = {&time_, &open_, &high, &low, &close_};
  for (int k = 0; k < 5; k++) {
    *columns[k] = malloc(sizeof(double) * (size_t)count);
    if (fread(*columns[k], 8, (size_t)count, file) != (size_t)count) return 4;
  }
  fclose(file);
  return 0;
}
