/* What the trials of a slice are measured against: the rules of engine_rules.h for each pair of periods of an SMA cross. An
 * average is computed once, and every trial uses the columns of the one before. Trades have no worst and best prices: a trial
 * keeps none.
 *
 * engine_scan DATA FAST STEP COUNT SLOW STEP COUNT SCANS FEE [RESULT]
 *
 * DATA holds candles (read_candles). RESULT receives two doubles a trial: its last mark and its closed trades.
 *
 * Prints each scan's milliseconds of processor time. */
#include "engine_rules.h"

/* The trials of a slice, into the columns of one; two numbers of each to `ends`. */
static void run_scan(const long *scan, double **averages, double *ends) {
  for (long f = 0; f < scan[2]; f++) {
    for (long s = 0; s < scan[5]; s++) {
      long periods[] = {scan[0] + f * scan[1], scan[3] + s * scan[4]};
      for (int k = 0; k < 2; k++) {
        if (averages[periods[k]]) continue;
        averages[periods[k]] = malloc(sizeof(double) * (size_t)count);
        average(close_, count, periods[k], averages[periods[k]]);
      }
      cash = 1e6, quantity = 0, waiting = NOTHING, trades.count = orders.count = 0;
      run_sma(averages[periods[0]], averages[periods[1]], periods[1], 0);
      *ends++ = equity[count - 1], *ends++ = (double)trades.count;
      if (quantity != 0) list_trade(count - 1, close_[count - 1], 0, STILL_OPEN);
    }
  }
}

int main(int argc, char **argv) {
  if (argc < 10) return 2;
  int failed = read_candles(argv[1]);
  if (failed) return failed;
  mallopt(M_MMAP_THRESHOLD, 1 << 25);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  long scan[6];
  for (int k = 0; k < 6; k++) scan[k] = atol(argv[2 + k]);
  keeps_excursions = 0, fee_rate = atof(argv[9]);
  size_t trials = (size_t)(scan[2] * scan[5]), periods = (size_t)(scan[3] + scan[5] * scan[4] + 1);
  double *ends = malloc(sizeof(double) * 2 * trials), **averages = malloc(sizeof(double *) * periods);
  equity = malloc(sizeof(double) * (size_t)count), position = malloc(sizeof(double) * (size_t)count);
  for (long done = 0, scans = atol(argv[8]); done < scans; done++) {
    double from = now();
    memset(averages, 0, sizeof(double *) * periods);
    run_scan(scan, averages, ends);
    for (size_t k = 0; k < periods; k++) free(averages[k]);
    printf("%.6f\n", now() - from);
  }
  FILE *to = argc > 10 ? fopen(argv[10], "wb") : NULL;
  if (argc > 10 && (!to || fwrite(ends, sizeof(double), 2 * trials, to) != 2 * trials || fclose(to))) return 5;
  return 0;
}

