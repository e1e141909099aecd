import { z } from "zod";
import type { Execution } from "../../engine/execution.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";

const findingSchema = z.object({ status: z.enum(["passed", "failed", "skipped"]), evidence: z.string() });
const boundSchema = z.object({ final_equity: z.number(), trades: z.int() });

const sessionSchema = z.object({
  hours: z.enum(["regular", "extended"]),
  timezone: z.string(),
  open: z.string(),
  close: z.string(),
  weekdays: z.array(z.int()).readonly(),
});

/** The name by which json_schema.ts knows the metrics. */
export const METRICS_ID = "Metrics";

// Results from before a metric existed lack it.
const metricSchema = z.number().nullable().default(null);

/** Rows that the engine wrote. To look at each of tens of thousands again would hold up everybody's requests. */
const weightRowsSchema = z.custom<readonly (readonly [moment: number, market: number, weight: number])[]>(Array.isArray)
  .meta({
    type: "array",
    items: { type: "array", prefixItems: [{ type: "integer" }, { type: "integer" }, { type: "number" }] },
    description:
      "`[moment, market, weight]` for each weight that is not 0: rows of `timestamps` and of `contributions`, and a fraction of equity.",
  });

/** The tables of a run over many markets; engine/portfolio/portfolio_summary.ts explains each key. */
const portfolioSchema = z.object({
  contributions: z.array(z.object({
    instrument: z.string().describe("`SPY@ARCA`."),
    pnl: z.number().describe("Money, net of fees and financing, open trades at the last close."),
    fees: z.number().describe("Money, of every fill."),
    trades: z.int().describe("Open ones included."),
    held: z.number().describe("Fraction of the marks at which it was held."),
    share: z.number().nullable().describe("Fraction of the sum of all pnl; null where that is 0."),
    currency: z.string().optional().describe("Of the instrument's prices; absent where all count in one."),
  })).readonly().describe("What each market gave to the result, in the order of the run's markets."),
  holdings: z.object({
    mean: z.number().describe("Mean number of markets held."),
    largest_weight: z.number().describe("The largest part of equity that one market had."),
    herfindahl: z.number().describe(
      "Mean sum of squared shares of gross value: 1 is a single market, 1 / n are n equal ones.",
    ),
  }).nullable().describe("Over all marks with a position; null where there is none."),
  weights: z.object({
    timestamps: z.array(z.string()).readonly().describe(
      "The moments that were sampled, at most some 500; fewer where more than 100 markets have 50,000 weights then.",
    ),
    rows: weightRowsSchema,
  }).describe("Value of each position as a fraction of equity, negative when short."),
  profits: z.object({
    rows: z.array(z.tuple([z.int(), z.int(), z.number()]).readonly()).readonly().describe(
      "`[moment, market, money]` where it changed since the moment before: rows of `weights.timestamps` and of `contributions`.",
    ),
  }).optional().describe(
    "What each market had given to the account by then, net of fees, open trades at the last close; 0 before its first row. Absent in results from before it was kept.",
  ),
  correlation: z.object({
    instruments: z.array(z.int()).readonly().describe("Rows of `contributions`: the markets held longest, at most 50."),
    values: z.array(z.array(z.number().nullable()).readonly()).readonly().describe(
      "A row a market; null where it is unknown.",
    ),
  }).describe("Of the daily returns of the markets' own closes."),
  exposure: z.object({
    net: z.number().describe("Mean sum of positions' values as a fraction of equity."),
    gross: z.number().describe("The same without regard to their side."),
    over_time: z.object({
      net: z.array(z.number()).readonly().describe("As `net` above, a value a moment."),
      gross: z.array(z.number()).readonly().describe("As `gross` above, a value a moment."),
    }).optional().describe("The same at each of `weights.timestamps`. Absent in results from before it was kept."),
  }).describe("Means over all marks."),
  margin_bounds: z.object({
    worst_together: boundSchema.describe("All open candles at their worst prices at once, as the result is."),
    closes_only: boundSchema.describe("The account is called by its closes alone."),
  }).optional().describe(
    "Two ends of a run whose margin calls depend on whether worst prices came together. Absent where they are the same.",
  ),
}).meta({ id: "Portfolio" });

const inputSchema = z.object({
  name: z.string().describe("Its name in parameters.inputs."),
  symbol: z.string(),
  exchange: z.string(),
  timeframe: z.string(),
  candles: z.int().describe("With those before the range."),
  first: z.iso.datetime().describe("Open of the first candle."),
  last: z.iso.datetime().describe("Open of the last candle."),
  sha256: z.string().describe("Checksum of the bytes of all columns."),
}).meta({ id: "ResultInput" });

const conversionSchema = z.object({
  currency: z.string().describe("Of instruments of the run."),
  symbol: z.string(),
  exchange: z.string(),
  is_inverse: z.boolean().describe("True if its price is that of the account's currency in this one."),
  timeframe: z.string(),
  candles: z.int().describe("With those before the range."),
  first: z.iso.datetime().describe("Open of the first candle."),
  last: z.iso.datetime().describe("Open of the last candle."),
  sha256: z.string().describe("Checksum of the bytes of all columns."),
}).meta({ id: "ResultConversion" });

/** The result of a completed backtest as clients read it; engine/result.ts explains each key. */
export const resultSchema = z.object({
  run_key: z.string(),
  engine_version: z.string(),
  module_sha256: z.string().nullable(),
  data: z.object({
    candles: z.int(),
    first: z.iso.datetime(),
    last: z.iso.datetime(),
    sha256: z.string(),
    gaps: z.int(),
    // Results from before instruments had a session lack it.
    session: sessionSchema.optional(),
    inputs: z.array(inputSchema).readonly().optional()
      .describe("Other candles that the strategy read; absent where it read none."),
    conversions: z.array(conversionSchema).readonly().optional()
      .describe("Forex instruments that convert currencies into the account's; absent where all is in one."),
  }),
  // The engine wrote it from settings that were checked at submission.
  execution: z.custom<Execution>((value) => typeof value === "object" && value !== null)
    .meta({ type: "object", description: "Every assumption, defaults filled in: docs/execution.md explains each." }),
  metrics: z.object({ start: z.iso.datetime(), end: z.iso.datetime() })
    .and(z.looseRecord(z.enum(NUMERIC_METRIC_NAMES), metricSchema)).meta({ id: METRICS_ID }),
  undefined_metrics: z.record(z.string(), z.string()),
  bounds: z.object({ stop_first: boundSchema, target_first: boundSchema }).nullable(),
  notes: z.array(z.string()).readonly(),
  integrity: z.object({
    lookahead: findingSchema,
    determinism: findingSchema,
    warm_up: findingSchema,
    orders: findingSchema,
  }),
  portfolio: portfolioSchema.optional().describe("Of a run over many markets; absent for one."),
  duration_ms: z.number(),
}).meta({ id: "Result" });
