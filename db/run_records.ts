import { backtestRecords } from "./backtests.ts";
import { monteCarloRecords } from "./monte_carlos.ts";
import { optimizationRecords } from "./optimizations.ts";
import { stressTestRecords } from "./stress_tests.ts";

export const RUN_RECORDS = {
  backtest: backtestRecords,
  optimization: optimizationRecords,
  monteCarlo: monteCarloRecords,
  stressTest: stressTestRecords,
} as const;
