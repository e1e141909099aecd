/* What the simulator is measured against: the rules of engine_rules.h, run after run.
 *
 * engine_bench DATA STRATEGY RUNS FEE STOP TARGET [RESULT]
 *
 * DATA holds candles (read_candles). STRATEGY is `sma`, `rsi` or `random`, each with a stop loss and take profit (fractions,
 * 0: none) on every trade. Every run has the memory of the one before. RESULT receives all columns of the last run, whose numbers must be the
 * simulator's to the last bit.
 *
 * Prints each run's milliseconds of processor time, its memory asked for and given back included. */
#include "engine_rules.h"

static void strength(long period, double *values) {
  double rise, fall, weight = 1.0 / (double)period, *first = malloc(sizeof(double) * (size_t)period * 4), *means = first + 2 * period;
  for (long i = 0; i <= period; i++) values[i] = NAN;
  for (long i = 1; i <= period; i++) {
    double change = close_[i] - close_[i - 1];
    first[i - 1] = fmax(change, 0), first[period + i - 1] = fmax(-change, 0);
  }
  average(first, period, period, means), rise = means[period - 1];
  average(first + period, period, period, means), fall = means[period - 1];
  free(first);
  for (long i = period; i < count; i++) {
    if (i > period) {
      double change = close_[i] - close_[i - 1];
      rise += weight * ((change > 0 ? change : 0) - rise);
      fall += weight * ((change < 0 ? -change : 0) - fall);
    }
    values[i] = rise + fall == 0 ? 50 : 100 * rise / (rise + fall);
  }
}

static void run_rsi(double *rsi, int guarded) {
  strength(14, rsi);
  for (long i = 0; i < count && advance(i, guarded); i++) {
    if (i < 15) continue;
    double now = rsi[i], before = rsi[i - 1];
    if (quantity <= 0 && before >= 30 && now < 30) place(i, MARKET, 1, NAN, 0);
    else if (quantity >= 0 && before <= 70 && now > 70) place(i, MARKET, -1, NAN, 0);
    else if ((quantity > 0 && now >= 50) || (quantity < 0 && now <= 50)) place(i, MARKET, quantity > 0 ? -1 : 1, NAN, 1);
  }
}

static void run_random(int guarded) {
  uint32_t state = 1;
  for (long i = 0; i < count && advance(i, guarded); i++) {
    state = state * 1664525u + 1013904223u;
    if (state >> 28) continue;
    if (waiting != NOTHING) end_order(CANCELLED, WITHDRAWN);
    int type = (int)(state >> 26 & 3);
    if (type == NOTHING) continue;
    double side = quantity > 0 ? -1 : quantity < 0 ? 1 : state >> 25 & 1 ? 1 : -1;
    double away = close_[i] * (double)(state >> 9 & 0xffff) * 0x1p-24;
    place(i, type, side, type == LIMIT ? close_[i] - side * away : close_[i] + side * away, 0);
  }
}

static void write_table(const Table *table, FILE *to) {
  for (int k = 0; k < table->numbers; k++) fwrite(table->number[k], sizeof(double), (size_t)table->count, to);
  for (long k = 0; k < table->count && table->has_candles; k++) fwrite(&(double){table->candles[k]}, sizeof(double), 1, to);
  for (int c = 0; c < table->codes; c++) {
    for (long k = 0; k < table->count; k++) {
      // The first column of codes holds sides, which have a sign.
      int8_t code = table->code[c][k];
      fwrite(&(double){c == 0 ? code : (uint8_t)code}, sizeof(double), 1, to);
    }
  }
}

/* Writes all columns as doubles: equity, position, trades, orders. */
static void write_result(const char *path) {
  FILE *to = fopen(path, "wb");
  if (!to) exit(5);
  fwrite(equity, sizeof(double), (size_t)count, to);
  fwrite(position, sizeof(double), (size_t)count, to);
  write_table(&trades, to), write_table(&orders, to);
  fclose(to);
}

int main(int argc, char **argv) {
  if (argc < 7) return 2;
  int failed = read_candles(argv[1]);
  if (failed) return failed;
  size_t size = sizeof(double) * (size_t)count;
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  fee_rate = atof(argv[4]), stop_fraction = atof(argv[5]), target_fraction = atof(argv[6]);
  int guarded = stop_fraction > 0 || target_fraction > 0;
  for (long run = 0, runs = atol(argv[3]); run < runs; run++) {
    double from = now();
    int averages = !strcmp(argv[2], "sma") ? 2 : !strcmp(argv[2], "rsi") ? 1 : 0;
    double *first = averages > 0 ? malloc(size) : NULL, *second = averages > 1 ? malloc(size) : NULL;
    equity = malloc(size), position = malloc(size);
    cash = 1e6, quantity = 0, waiting = NOTHING;
    if (averages == 2) {
      average(close_, count, 10, first), average(close_, count, 30, second);
      run_sma(first, second, 30, guarded);
    } else if (averages == 1) run_rsi(first, guarded);
    else run_random(guarded);
    if (quantity != 0) list_trade(count - 1, close_[count - 1], 0, STILL_OPEN);
    int is_kept = run == runs - 1 && argc > 7;
    if (is_kept) write_result(argv[7]);
    free(first), free(second), free(equity), free(position), clear(&trades), clear(&orders);
    printf("%.6f\n", now() - from);
  }
  return 0;
}
