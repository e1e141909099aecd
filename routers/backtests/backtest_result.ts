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

/** The tables of a run over many markets; engine/portfolio/portfolio_summary.ts explains each key. */
const portfolioSchema = z.object({
  contributions: z.array(z.object({
    instrument: z.string(),
    pnl: z.number(),
    fees: z.number(),
    trades: z.int(),
    held: z.number(),
    share: z.number().nullable(),
  })).readonly(),
  holdings: z.object({ mean: z.number(), largest_weight: z.number(), herfindahl: z.number() }).nullable(),
  weights: z.object({
    timestamps: z.array(z.string()).readonly(),
    rows: z.array(z.tuple([z.int(), z.int(), z.number()]).readonly()).readonly(),
  }),
  correlation: z.object({
    instruments: z.array(z.int()).readonly(),
    values: z.array(z.array(z.number().nullable()).readonly()).readonly(),
  }),
  exposure: z.object({ net: z.number(), gross: z.number() }),
}).meta({ id: "Portfolio" });

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
  portfolio: portfolioSchema.optional(),
  duration_ms: z.number(),
}).meta({ id: "Result" });
