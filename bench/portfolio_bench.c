/* What a portfolio is measured against: a monthly momentum rotation over many markets with the same days.
 *
 * portfolio_bench DATA MARKETS DAYS TOP LOOKBACK RUNS
 *
 * DATA holds doubles: for each day 1 where the strategy is asked, then for each market its opens, highs, lows and closes. Prints for each
 * run its milliseconds of processor time, the final equity and the number of trades. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOT 1e-8
#define FEE 0.001

typedef struct {
  int market, entry, exit;
  double quantity, entry_price, exit_price, fees, pnl, mae, mfe;
} Trade;

static long markets, days, top, lookback;
static double *asks, *open_, *high, *low, *close_;
static double *equity, *quantity, *weight, *past, cash;
static Trade *open_trades, *trades;
static int *opened, *order;
static long trade_count, capacity;

static double lots(double units) { return floor(units / LOT * (1 + 0x1p-50)) * LOT; }

static int by_past(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return past[x] != past[y] ? (past[x] < past[y] ? 1 : -1) : x - y;
}

static void list_trade(Trade *from, double units, long day, double price) {
  double share = units / from->quantity, fee = units * price * FEE, best = price, worst = price;
  const double *h = high + from->market * days, *l = low + from->market * days;
  for (long i = from->entry; i < day; i++) best = fmax(best, h[i]), worst = fmin(worst, l[i]);
  if (trade_count == capacity) trades = realloc(trades, sizeof(Trade) * (size_t)(capacity *= 2));
  Trade *to = &trades[trade_count++];
  *to = *from;
  to->quantity = units, to->exit = (int)day, to->exit_price = price, to->fees = from->fees * share + fee;
  to->pnl = units * (price - from->entry_price) - to->fees;
  to->mfe = (best - from->entry_price) / from->entry_price, to->mae = (from->entry_price - worst) / from->entry_price;
  from->fees *= 1 - share;
  from->quantity -= units;
  cash += units * price - fee;
}

/* Each market has a stack of trades, oldest first. */
#define STACK 200
static Trade *trade_of(long m, int k) { return &open_trades[m * STACK + k]; }

static void sell(long m, double units, long day, double price) {
  quantity[m] -= units;
  if (quantity[m] < LOT / 2) quantity[m] = 0;
  while (units > LOT / 2 && opened[m] > 0) {
    Trade *oldest = trade_of(m, 0);
    double part = fmin(units, oldest->quantity);
    list_trade(oldest, part, day, price);
    units -= part;
    if (oldest->quantity > LOT / 2) continue;
    opened[m]--;
    memmove(oldest, oldest + 1, sizeof(Trade) * (size_t)opened[m]);
  }
}

static void rebalance(long day) {
  double worth = cash, free_, asked = 0;
  static double budget[4096];
  for (long m = 0; m < markets; m++) if (quantity[m] > 0) worth += quantity[m] * open_[m * days + day];
  for (long m = 0; m < markets; m++) {
    double price = open_[m * days + day], value = quantity[m] * price, wanted = weight[m] * worth;
    budget[m] = 0;
    if (wanted > value) budget[m] = wanted - value;
    else if (quantity[m] > 0 && wanted < value) {
      double kept = weight[m] > 0 ? lots(wanted / price) : 0;
      if (quantity[m] - kept > LOT / 2) sell(m, quantity[m] - kept, day, price);
    }
  }
  for (long m = 0; m < markets; m++) asked += budget[m];
  free_ = cash;
  for (long m = 0; m < markets; m++) {
    if (budget[m] <= 0) continue;
    double price = open_[m * days + day], money = asked > free_ ? budget[m] * (free_ / asked) : budget[m];
    double units = lots(money / (price * (1 + FEE)));
    if (units <= 0 || opened[m] == STACK) continue;
    Trade *trade = trade_of(m, opened[m]++);
    *trade = (Trade){.market = (int)m, .entry = (int)day, .quantity = units, .entry_price = price, .fees = units * price * FEE};
    quantity[m] += units;
    cash -= units * price + trade->fees;
  }
}

static void run(void) {
  int wants = 0, warm = 0;
  cash = 1e6, trade_count = 0;
  memset(quantity, 0, sizeof(double) * (size_t)markets), memset(opened, 0, sizeof(int) * (size_t)markets);
  for (long day = 0; day < days; day++) {
    if (wants) rebalance(day), wants = 0;
    double sum = cash;
    for (long m = 0; m < markets; m++) if (quantity[m] > 0) sum += quantity[m] * close_[m * days + day];
    equity[day] = sum;
    if (day < lookback || !(asks[day] > 0 || !warm)) continue;
    warm = wants = 1;
    long ranked = 0;
    for (long m = 0; m < markets; m++) {
      past[m] = close_[m * days + day] / close_[m * days + day - lookback] - 1, weight[m] = 0;
      if (past[m] >= 0) order[ranked++] = (int)m;
    }
    qsort(order, (size_t)ranked, sizeof(int), by_past);
    for (long k = 0; k < ranked && k < top; k++) weight[order[k]] = 1.0 / (double)top;
  }
  for (long m = 0; m < markets; m++) {
    while (opened[m] > 0) {
      double before = cash;
      Trade *trade = trade_of(m, --opened[m]);
      list_trade(trade, trade->quantity, days - 1, close_[m * days + days - 1]);
      cash = before;
    }
  }
}

int main(int argc, char **argv) {
  if (argc < 7) return 1;
  markets = atol(argv[2]), days = atol(argv[3]), top = atol(argv[4]), lookback = atol(argv[5]);
  size_t all = (size_t)(markets * days), bytes = sizeof(double) * all;
  asks = malloc(sizeof(double) * (size_t)days), open_ = malloc(bytes), high = malloc(bytes), low = malloc(bytes), close_ = malloc(bytes);
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(asks, sizeof(double), (size_t)days, file) != (size_t)days) return 1;
  for (long m = 0; m < markets; m++) {
    double *columns[] = {open_, high, low, close_};
    for (int c = 0; c < 4; c++) if (fread(columns[c] + m * days, sizeof(double), (size_t)days, file) != (size_t)days) return 1;
  }
  for (long k = 0; k < atol(argv[6]); k++) {
    clock_t begun = clock();
    capacity = 1024;
    equity = malloc(sizeof(double) * (size_t)days), trades = malloc(sizeof(Trade) * (size_t)capacity);
    quantity = malloc(sizeof(double) * (size_t)markets), weight = malloc(sizeof(double) * (size_t)markets);
    past = malloc(sizeof(double) * (size_t)markets), order = malloc(sizeof(int) * (size_t)markets);
    opened = malloc(sizeof(int) * (size_t)markets), open_trades = malloc(sizeof(Trade) * (size_t)(markets * STACK));
    run();
    printf("%.3f %.9f %ld\n", (double)(clock() - begun) * 1000.0 / CLOCKS_PER_SEC, equity[days - 1], trade_count);
    free(equity), free(trades), free(quantity), free(weight), free(past), free(order), free(opened), free(open_trades);
  }
  return 0;
}
