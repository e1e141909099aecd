/** The words of the API's description for optimizations. */
import { optimizationSchema, trialSchema } from "../../routers/optimizations/optimization_records.ts";
import { accountDaySchema, returnSchema, splitSchema } from "../../routers/optimizations/trial_returns.ts";
import {
  AWAITED,
  KEYED,
  listOf,
  LOCATION,
  NEXT_CURSOR,
  type Operation,
  RECORD_EVENTS,
  SUBMISSION,
  TABLE_MEDIA,
} from "./operation.ts";

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
    description:
      "Each point of its `space` that satisfies its `constraints` is a trial: a backtest with those parameters, of which the metrics and the daily returns are kept, and not the trades. A trial's metrics equal those of a backtest of the same parameters to the last digit. A module refuses parameters in `init`, a script by a `RangeError` when it is created. An endpoint cannot refuse them: its answers with another status than 200 are failed trials, and five in a row end the optimization. A module or script that comes along is tried out with the first value of each parameter, which it must take. With `markets`, each point is tried in each of them, as a run over that market alone: `symbol` and `exchange` then name the benchmark, and without a `space` one strategy runs in each market.",
    codes: SUBMISSION,
    example: { optimization: OPTIMIZATION },
    headers: LOCATION,
    requestHeaders: KEYED,
  },
  "optimizations.get": {
    summary: "An optimization",
    codes: NO_OPTIMIZATION,
    ...AWAITED,
  },
  "optimizations.delete": {
    summary: "Delete an optimization with its trials",
    description: "It removes its trials, running or not.",
    codes: NO_OPTIMIZATION,
  },
  "optimizations.cancel": {
    summary: "Cancel an optimization",
    description: "Stops it within a second. Its trials stay.",
    codes: [...NO_OPTIMIZATION, "NOT_CANCELLABLE"],
  },
  "optimizationsStreams.events": {
    summary: "Follow an optimization",
    codes: NO_OPTIMIZATION,
    ...RECORD_EVENTS,
  },
  "optimizations.surface": {
    summary: "A metric of the trials over two parameters",
    description: "A cell is null where no trial has the metric. Without `y`, one row. At most 250,000 cells.",
    codes: NO_OPTIMIZATION,
  },
  "optimizations.ranking": {
    summary: "The points and markets of a scan, ranked",
    description:
      "Of an optimization with `markets`: its points by the median of a metric over the markets, with the share of markets in which each made a profit, and its markets by the point that is first. As far as its trials are done.",
    codes: NO_OPTIMIZATION,
  },
  "optimizationsStreams.trials": {
    summary: "The trials of an optimization",
    description:
      "By number or by a metric, complete without `limit`; more than 50,000 by a metric come with a `limit` only. In CSV and Arrow, parameters are columns such as `parameters.fast`, and the last columns are `error_code` and `error_message`.",
    codes: NO_OPTIMIZATION,
    output: listOf("trials", trialSchema),
    media: TABLE_MEDIA,
    headers: NEXT_CURSOR,
  },
  "optimizationsStreams.returns": {
    summary: "The daily returns of an optimization's trials",
    description:
      "Complete, in the order of the trials: those that the figures of luck are computed from. `of=benchmark` gives those of the benchmark as number 0; none of an optimization that has not completed, or from before they were kept.",
    codes: NO_OPTIMIZATION,
    output: listOf("returns", returnSchema),
    media: TABLE_MEDIA,
  },
  "optimizationsStreams.account": {
    summary: "Every day of an optimization's account out of sample",
    description:
      "The account that the figures of `out_of_sample` are computed from. None of one without `walk_forward`, that has not completed, or from before there were any.",
    codes: NO_OPTIMIZATION,
    output: listOf("account", accountDaySchema),
    media: TABLE_MEDIA,
  },
  "optimizationsStreams.splits": {
    summary: "The splits of an optimization's cross-validation",
    description:
      "The pairs of halves that `overfitting_probability`, `loss_probability`, `degradation_slope` and `median_rank` are computed from. None where there are too few trials or days, or from before there were any.",
    codes: NO_OPTIMIZATION,
    output: listOf("splits", splitSchema),
    media: TABLE_MEDIA,
  },
  "optimizations.backtestTrial": {
    summary: "Run a trial as a backtest",
    description:
      "Its metrics equal the trial's, and it has trades, orders, equity and the checks of its integrity. Where its strategy was deleted it is 400 `UNKNOWN_STRATEGY`, also if the same version was registered again.",
    codes: [...SUBMISSION, ...NO_OPTIMIZATION, "TRIAL_NOT_FOUND"],
    headers: LOCATION,
  },
};
