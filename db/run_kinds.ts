import { backtests, monteCarlos, optimizations, stressTests } from "./schema.ts";

/**
 * The kinds of runs. A run is a record that a user submits, whose job a worker does, and that ends with an outcome.
 *
 * `table`: its records, see runs.ts; `queue`: its jobs; `jobKey`: the record's id in the data of a job, and `logKey`
 * in the log; `topic`: the subject of a
 * notification of a change; `noun`: its name in messages.
 */
export const RUN_KINDS = {
  backtest: {
    table: backtests,
    queue: "backtests",
    jobKey: "backtestId",
    logKey: "backtest_id",
    topic: "backtest",
    noun: "backtest",
  },
  optimization: {
    table: optimizations,
    queue: "optimizations",
    jobKey: "optimizationId",
    logKey: "optimization_id",
    topic: "optimization",
    noun: "optimization",
  },
  monteCarlo: {
    table: monteCarlos,
    queue: "monte-carlos",
    jobKey: "monteCarloId",
    logKey: "monte_carlo_id",
    topic: "monte carlo",
    noun: "Monte Carlo simulation",
  },
  stressTest: {
    table: stressTests,
    queue: "stress-tests",
    jobKey: "stressTestId",
    logKey: "stress_test_id",
    topic: "stress test",
    noun: "stress test",
  },
} as const;

export type RunKindName = keyof typeof RUN_KINDS;
export type RunTable = (typeof RUN_KINDS)[RunKindName]["table"];
