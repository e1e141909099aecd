/** Procedures for drawing a backtest: the meaning of its metrics, and a chart. */
import { z } from "zod";
import { timeMsSchema } from "../common/dates.ts";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { inputObject } from "../common/input_object.ts";
import { TIMEFRAME_NAMES } from "../../market/timeframes.ts";
import { idSchema } from "../runs/runs.ts";
import { mustGet } from "./owned_backtest.ts";
import { readLarge } from "../common/large_reads.ts";
import { MARKET_LETTERS_MAX, readRunChart, runChartSchema } from "./run_chart.ts";
import { readRunCandles, runCandlesSchema } from "./longer_candles.ts";
import { linkedProcedure, publicProcedure } from "../common/trpc.ts";

const CHART_POINTS_MAX = 4_000;
// A bucket of a chart as JSON, about.
const BUCKET_BYTES = 140;
/** A metric: see MetricDefinition of engine/metrics/define.ts. */
export const metricSchema = z.object({
  name: z.string(),
  label: z.string(),
  meaning: z.string(),
  formula: z.string(),
  unit: z.string(),
  format: z.enum(["date", "percent", "money", "count", "days", "ratio"]),
  better: z.enum(["more", "less"]).nullable(),
  isSigned: z.boolean(),
  sample: z.string(),
  undefinedWhen: z.array(z.string()).readonly(),
});
/** All metrics, in the order in which results show them. */
export const METRICS = Object.entries(METRIC_DEFINITIONS).map(([name, definition]) => ({ name, ...definition }));
const chartShape = {
  id: idSchema,
  from: z.int().min(0).default(0),
  until: z.int().min(1).optional(),
  points: z.int().min(2).max(CHART_POINTS_MAX).default(1_000),
  /** The market whose candles are drawn, as `SPY@ARCA`; absent: the backtest's own. */
  market: z.string().max(MARKET_LETTERS_MAX).optional(),
};
const candlesShape = {
  id: idSchema,
  timeframe: z.enum(TIMEFRAME_NAMES),
  from: timeMsSchema,
  until: timeMsSchema,
  market: chartShape.market,
};

export const drawingProcedures = {
  /** The meaning of each metric of a result, in the order in which results show them. */
  metrics: publicProcedure.output(z.object({ metrics: z.array(metricSchema) })).query(() => ({ metrics: METRICS })),

  /** Candles, equity, drawdown and position of one of the caller's completed backtests, merged into about `points` buckets to draw. */
  chart: linkedProcedure("backtest", "id")
    .input(inputObject(chartShape))
    .output(runChartSchema)
    .query(async ({ ctx, input: { id, ...range } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await readLarge(ctx, async () => {
        const chart = await readRunChart(ctx, row, range);
        ctx.answer.take(chart.time.length * BUCKET_BYTES);
        return chart;
      });
    }),

  /** Candles of a market of one of the caller's backtests that are longer than the run's own, to draw over it. */
  candles: linkedProcedure("backtest", "id")
    .input(inputObject(candlesShape))
    .output(runCandlesSchema)
    .query(async ({ ctx, input: { id, ...wanted } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await readLarge(ctx, async () => {
        const candles = await readRunCandles(ctx, row, wanted);
        ctx.answer.take(candles.time.length * BUCKET_BYTES);
        return candles;
      });
    }),
};
