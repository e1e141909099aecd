/** The words of the API's description for optimizations. */
import { optimizationSchema, trialSchema } from "../../routers/optimizations/optimization_records.ts";
import { KEYED, listOf, LOCATION, NEXT_CURSOR, type Operation, SUBMISSION, TABLE_MEDIA } from "./operation.ts";

const NO_OPTIMIZATION = ["OPTIMIZATION_NOT_FOUND"] as const;

const OPTIMIZATION = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-07-01",
  initial_balance: 10_000,
  parameters: { timeframe: "1h", execution: { commission: 0.0005 } },
  space: { fast: { min: 4, max: 40, step: 4 }, slow: { min: 20, max: 200, step: 20 } },
  constraints: ["fast < slow"],
  objective: "sharpe",
};

/** By procedure. */
export const OPTIMIZATION_OPERATIONS: Readonly<Record<string, Operation>> = {
  "optimizationsStreams.list": {
    summary: "The caller's optimizations",
    description: "Newest first, complete without `limit`.",
    output: listOf("optimizations", optimizationSchema),
  },
  "optimizations.create": {
    summary: "Submit an optimization",
    description: "Each point of `space` that satisfies `constraints` is a trial: a backtest with those parameters. " +
      "With `walk_forward`, the best of each training window trades the test window that follows. " +
      "It is checked now and runs later: follow it with `wait`, `/events` or by polling.",
    codes: SUBMISSION,
    example: { optimization: OPTIMIZATION },
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "optimizations.get": {
    summary: "An optimization",
    description: "With `wait`, the answer comes when it has ended, or after so many seconds.",
    codes: NO_OPTIMIZATION,
    headers: { ETag: "Send it as If-None-Match: 304 where nothing changed." },
  },
  "optimizations.delete": { summary: "Delete an optimization with its trials", codes: NO_OPTIMIZATION },
  "optimizations.cancel": {
    summary: "Cancel an optimization",
    description: "Its trials so far stay.",
    codes: [...NO_OPTIMIZATION, "NOT_CANCELLABLE"],
  },
  "optimizationsStreams.events": {
    summary: "Follow an optimization",
    description:
      "Server-sent events `status`, `progress` and `end`, each with the record as JSON; at most four a second.",
    codes: NO_OPTIMIZATION,
    output: null,
    media: ["text/event-stream"],
  },
  "optimizations.surface": {
    summary: "A metric of the trials over two parameters",
    description: "A cell is null where no trial has the metric. Without `y`, one row.",
    codes: NO_OPTIMIZATION,
  },
  "optimizationsStreams.trials": {
    summary: "The trials of an optimization",
    description: "By number or by a metric, complete without `limit`. Trials without the metric come last.",
    codes: NO_OPTIMIZATION,
    output: listOf("trials", trialSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "optimizations.backtestTrial": {
    summary: "Run a trial as a backtest",
    description: "Its metrics equal the trial's, and it has trades, orders, equity and the checks of its integrity.",
    codes: [...SUBMISSION, ...NO_OPTIMIZATION, "TRIAL_NOT_FOUND"],
    headers: LOCATION,
  },
};
