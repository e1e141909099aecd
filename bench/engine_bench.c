/* The rules of sma-cross under the default assumptions, in plain C: what the simulator is measured against.
 *
 * Reads candles as five columns of doubles (open, high, low, close; count first) from the file named by the first argument
 * and runs the strategy as often as the second one says: two moving averages, a cross decided at the close, the opposite
 * position closed and everything put into the new one at the next open, whole lots, a fee of each fill's value, an
 * optional stop loss and take profit (fractions), the trades with their worst and best prices, equity and position at
 * each close, and the largest drawdown. Prints the milliseconds of each run, and the final equity and the trades. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  double side, quantity, entry, exit, fees, pnl, mae, mfe;
  long entered, left;
  int reason;
} Trade;

typedef struct {
  long placed, filled;
  double side, quantity, price;
} Order;

static long count;
static double *open_, *high, *low, *close_;
static double fee_rate, stop_level, target_level;
static double cash, quantity, entry, entry_fee;
static long entered, trades, trades_room, orders, orders_room;
static Trade *trade;
static Order *order;

static void average(const double *values, long period, double *means) {
  double sum = 0;
  for (long i = 0; i < count; i++) {
    sum += values[i];
    if (i >= period) sum -= values[i - period];
    means[i] = i + 1 >= period ? sum / (double)period : NAN;
  }
}

static void leave(long i, double price, int at_open, int reason) {
  double side = quantity > 0 ? 1 : -1, held = fabs(quantity), fee = held * price * fee_rate;
  double highest = price, lowest = price;
  for (long k = entered; k < i; k++) {
    if (high[k] > highest) highest = high[k];
    if (low[k] < lowest) lowest = low[k];
  }
  if (!at_open) {
    if (open_[i] > highest) highest = open_[i];
    if (open_[i] < lowest) lowest = open_[i];
  }
  if (trades == trades_room) trade = realloc(trade, sizeof(Trade) * (size_t)(trades_room = trades_room ? trades_room * 2 : 256));
  Trade *t = &trade[trades++];
  t->side = side, t->quantity = held, t->entry = entry, t->exit = price, t->fees = entry_fee + fee;
  t->pnl = side * held * (price - entry) - t->fees;
  double best = side > 0 ? highest - entry : entry - lowest, worst = side > 0 ? entry - lowest : highest - entry;
  t->mfe = fmax(0, best) / entry, t->mae = fmax(0, worst) / entry;
  t->entered = entered, t->left = i, t->reason = reason;
  cash += quantity * price - fee;
  quantity = 0;
}

static void enter(long i, double side, double price) {
  double units = floor(cash / (price * (1 + fee_rate)) * 1e8) / 1e8;
  if (units <= 0) return;
  entry_fee = units * price * fee_rate;
  cash -= side * units * price + entry_fee;
  quantity = side * units, entry = price, entered = i;
}

static void guard(long i, int inside_only) {
  double side = quantity > 0 ? 1 : -1;
  double stop = stop_level > 0 ? entry * (1 - side * stop_level) : NAN;
  double target = target_level > 0 ? entry * (1 + side * target_level) : NAN;
  double worst = side > 0 ? low[i] : high[i], best = side > 0 ? high[i] : low[i];
  if (!inside_only && side * open_[i] <= side * stop) leave(i, open_[i], 1, 1);
  else if (!inside_only && side * open_[i] >= side * target) leave(i, open_[i], 1, 2);
  else if (side * worst <= side * stop) leave(i, stop, 0, 1);
  else if (side * best >= side * target) leave(i, target, 0, 2);
}

static double simulate(double balance, double *fast, double *slow, double *equity, double *position) {
  double peak = balance, drawdown = 0, wanted = 0;
  cash = balance, quantity = 0, trades = 0, orders = 0;
  average(close_, 10, fast), average(close_, 30, slow);
  for (long i = 0; i < count; i++) {
    if (wanted != 0) {
      if (quantity != 0) leave(i, open_[i], 1, 0);
      enter(i, wanted, open_[i]);
      order[orders - 1].filled = i, order[orders - 1].price = open_[i], order[orders - 1].quantity = fabs(quantity);
      wanted = 0;
    }
    if (quantity != 0 && (stop_level > 0 || target_level > 0)) guard(i, 0);
    double marked = cash + quantity * close_[i];
    equity[i] = marked, position[i] = quantity;
    if (marked > peak) peak = marked;
    else if (1 - marked / peak > drawdown) drawdown = 1 - marked / peak;
    if (marked <= 0) break;
    if (i < 30) continue;
    if (fast[i - 1] < slow[i - 1] && fast[i] > slow[i] && quantity <= 0) wanted = 1;
    if (fast[i - 1] > slow[i - 1] && fast[i] < slow[i] && quantity >= 0) wanted = -1;
    if (wanted != 0) {
      if (orders == orders_room) order = realloc(order, sizeof(Order) * (size_t)(orders_room = orders_room ? orders_room * 2 : 256));
      order[orders].placed = i, order[orders].side = wanted, orders++;
    }
  }
  return drawdown;
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  FILE *file = fopen(argv[1], "rb");
  double header;
  if (!file || fread(&header, 8, 1, file) != 1) return 3;
  count = (long)header;
  size_t size = sizeof(double) * (size_t)count;
  double **columns[] = {&open_, &high, &low, &close_};
  for (int k = 0; k < 4; k++) {
    *columns[k] = malloc(size);
    if (fread(*columns[k], 8, (size_t)count, file) != (size_t)count) return 4;
  }
  long runs = atol(argv[2]);
  fee_rate = atof(argv[3]), stop_level = atof(argv[4]), target_level = atof(argv[5]);
  double drawdown = 0, final = 0;
  for (long run = 0; run < runs; run++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    double *fast = malloc(size), *slow = malloc(size), *equity = malloc(size), *position = malloc(size);
    trade = NULL, order = NULL, trades_room = orders_room = 0;
    drawdown = simulate(1e6, fast, slow, equity, position);
    final = equity[count - 1];
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.6f\n", (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6);
    free(fast), free(slow), free(equity), free(position), free(trade), free(order);
  }
  printf("%.17g %ld %.17g\n", final, trades, drawdown);
  return 0;
}
