/* What a portfolio is measured against: a monthly momentum rotation over many markets with the same days.
 *
 * portfolio_bench DATA MARKETS DAYS TOP LOOKBACK RUNS
 *
 * DATA holds doubles: for each day 1 where the strategy is asked, then for each market its days, opens, highs, lows and closes. Prints
 * for each run its milliseconds of processor time, the final equity and the number of trades.
 *
 * The same work as the simulation's: it makes sure that the markets have the same days, and keeps orders, trades with their worst and
 * best prices, cash, equity and exposures a day, and weights, profits and figures of holdings at samples.
 *
 * Left out, in C's favour: every other rule and type of order, the look at which days the strategy is asked, tags, progress. */
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
typedef struct {
  int market, placed, filled;
  signed char side, type, status, reason;
  double quantity, limit, stop, filled_quantity, price;
} Order;
typedef struct {
  int day, market;
  double value;
} Sampled;

#define SAMPLES 500
#define KEPT 100

static long markets, days, top, lookback;
static double *asks, *time_, *open_, *high, *low, *close_;
static double *equity, *cash_of, *net, *gross, *quantity, *weight, *past, *flow, *known, cash;
static double largest, squares, marks_held, positions;
static Trade *open_trades, *trades;
static Order *orders;
static Sampled *weights, *profits;
static int *opened, *order;
static long trade_count, capacity, order_count, order_capacity, weight_count, profit_count;

static double lots(double units) { return floor(units / LOT * (1 + 0x1p-50)) * LOT; }

static int by_past(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return past[x] != past[y] ? (past[x] < past[y] ? 1 : -1) : x - y;
}

static void list_order(long m, int side, double units, long day, double price) {
  if (order_count == order_capacity) orders = realloc(orders, sizeof(Order) * (size_t)(order_capacity *= 2));
  orders[order_count++] = (Order){(int)m, (int)day - 1, (int)day, (signed char)side, 0, 1, 0, units, NAN, NAN, units, price};
}

/* Weights and what each market has given so far, where it has changed. */
static void keep_sample(long day, double worth) {
  for (long m = 0; m < markets; m++) {
    double value = quantity[m] * close_[m * days + day], profit = flow[m] + value;
    if (quantity[m] > 0) weights[weight_count++] = (Sampled){(int)day, (int)m, value / worth};
    if (profit != known[m]) profits[profit_count++] = (Sampled){(int)day, (int)m, known[m] = profit};
  }
}

static void count_holdings(long day, double worth) {
  double whole = 0, squared = 0;
  for (long m = 0; m < markets; m++) {
    if (quantity[m] <= 0) continue;
    double value = quantity[m] * close_[m * days + day];
    whole += value, squared += value * value, positions++, largest = fmax(largest, value / worth);
  }
  if (whole > 0) marks_held++, squares += squared / (whole * whole);
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
  cash += units * price - fee, flow[from->market] += units * price - fee;
}

/* Each market has a stack of trades, oldest first. */
#define STACK 200
static Trade *trade_of(long m, int k) { return &open_trades[m * STACK + k]; }

static void sell(long m, double units, long day, double price) {
  list_order(m, -1, units, day, price);
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
    cash -= units * price + trade->fees, flow[m] -= units * price + trade->fees;
    list_order(m, 1, units, day, price);
  }
}

static void run(void) {
  int wants = 0, warm = 0;
  double next = 0;
  long samples = 0;
  for (long m = 1; m < markets; m++) if (memcmp(time_ + m * days, time_, sizeof(double) * (size_t)days) != 0) exit(2);
  cash = 1e6, trade_count = order_count = weight_count = profit_count = 0, largest = squares = marks_held = positions = 0;
  memset(flow, 0, sizeof(double) * (size_t)markets), memset(known, 0, sizeof(double) * (size_t)markets);
  memset(quantity, 0, sizeof(double) * (size_t)markets), memset(opened, 0, sizeof(int) * (size_t)markets);
  for (long day = 0; day < days; day++) {
    if (wants) rebalance(day), wants = 0;
    double held = 0;
    for (long m = 0; m < markets; m++) if (quantity[m] > 0) held += quantity[m] * close_[m * days + day];
    double sum = cash + held;
    equity[day] = sum, cash_of[day] = cash, net[day] = gross[day] = held / sum;
    if (day == (long)next || day == days - 1) {
      count_holdings(day, sum);
      if (samples++ % (SAMPLES / KEPT) == 0 || day == days - 1) keep_sample(day, sum);
      while ((long)next <= day) next += fmax(1, (double)days / (SAMPLES - 1));
    }
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
  asks = malloc(sizeof(double) * (size_t)days), time_ = malloc(bytes), open_ = malloc(bytes), high = malloc(bytes), low = malloc(bytes), close_ = malloc(bytes);
  FILE *file = fopen(argv[1], "rb");
  if (!file || fread(asks, sizeof(double), (size_t)days, file) != (size_t)days) return 1;
  for (long m = 0; m < markets; m++) {
    double *columns[] = {time_, open_, high, low, close_};
    for (int c = 0; c < 5; c++) if (fread(columns[c] + m * days, sizeof(double), (size_t)days, file) != (size_t)days) return 1;
  }
  for (long k = 0; k < atol(argv[6]); k++) {
    clock_t begun = clock();
    capacity = order_capacity = 1024;
    size_t a_day = sizeof(double) * (size_t)days, a_market = sizeof(double) * (size_t)markets;
    equity = malloc(a_day), cash_of = malloc(a_day), net = malloc(a_day), gross = malloc(a_day);
    trades = malloc(sizeof(Trade) * (size_t)capacity), orders = malloc(sizeof(Order) * (size_t)order_capacity);
    quantity = malloc(a_market), weight = malloc(a_market), past = malloc(a_market), flow = malloc(a_market), known = malloc(a_market);
    weights = malloc(sizeof(Sampled) * (size_t)(markets * (KEPT + 1))), profits = malloc(sizeof(Sampled) * (size_t)(markets * (KEPT + 1)));
    order = malloc(sizeof(int) * (size_t)markets), opened = malloc(sizeof(int) * (size_t)markets);
    open_trades = malloc(sizeof(Trade) * (size_t)(markets * STACK));
    run();
    printf("%.3f %.9f %ld\n", (double)(clock() - begun) * 1000.0 / CLOCKS_PER_SEC, equity[days - 1], trade_count);
    void *all_of[] = {equity, cash_of, net, gross, trades, orders, quantity, weight, past, flow, known, weights, profits, order, opened, open_trades};
    for (size_t n = 0; n < sizeof(all_of) / sizeof(all_of[0]); n++) free(all_of[n]);
  }
  return 0;
}
