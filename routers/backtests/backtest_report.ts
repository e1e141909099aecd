/** The procedure behind a run's report: everything that its page shows, in one bounded answer. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { listTrades } from "../../db/row_pages.ts";
import { METRICS, metricSchema } from "./backtest_drawings.ts";
import { backtestSchema, returnSchema } from "./backtest_records.ts";
import { inputObject } from "../common/input_object.ts";
import { readLarge, readWhole } from "../common/large_reads.ts";
import { idSchema } from "../runs/runs.ts";
import { marketsOf, mustGet, requireCompleted } from "./owned_backtest.ts";
import { plotChartSchema, readPlotChart } from "./plot_series.ts";
import { toShareable } from "./shareable.ts";
import { readRunChart, runChartSchema } from "./run_chart.ts";
import { readDays, returnsOf, toReturnRows } from "./series.ts";
import { readStressResult, stressResultSchema } from "./stress_result.ts";
import { fillsSchema, readFills, readSpread, spreadSchema } from "./trade_procedures.ts";
import { toTradeColumns, tradeColumnsSchema } from "./trade_table.ts";
import { linkedProcedure, type UserContext } from "../common/trpc.ts";

/** Buckets of a report's chart, about: as many as the console first draws. */
const CHART_POINTS = 1_000;
/** Most trades in a report; the export has all. */
const REPORT_TRADES_MAX = 5_000;
// A report as JSON is never longer than this, about: its chart, its trades, a result with its notes.
const REPORT_BYTES = 2 * 1024 * 1024;

/** A completed backtest with the answers of the procedures that draw it. */
const reportSchema = z.object({
  backtest: backtestSchema,
  metrics: z.array(metricSchema),
  chart: runChartSchema,
  plots: plotChartSchema,
  /** The first ones. */
  trades: tradeColumnsSchema,
  /** Of the whole run. */
  fills: fillsSchema,
  spread: spreadSchema,
  monthly: z.array(returnSchema),
  yearly: z.array(returnSchema),
  /** Of the newest completed stress test. */
  stress: stressResultSchema.nullable(),
});

export const reportProcedures = {
  /** Everything that a report of one of the caller's completed backtests shows. */
  report: linkedProcedure("backtest", "id")
    .input(inputObject({ id: idSchema }))
    .output(reportSchema)
    .query(async ({ ctx, input: { id } }) => {
      const row = requireCompleted(await mustGet(ctx.db, id, ctx.user.id), "make a report of");
      const key = { backtestId: row.id, ownerId: row.ownerId };
      const range = { from: 0, until: undefined, points: CHART_POINTS };
      const spread = await readWhole(ctx, () => readSpread(ctx, row));
      const fills = await readChartFills(ctx, row);
      return await readLarge(ctx, async () => {
        ctx.answer.takeCandles(row.result.data.candles);
        const days = await readDays(ctx, row);
        const trades = await listTrades(
          ctx.db,
          { ...key, after: 0, limit: REPORT_TRADES_MAX },
          (...chunk) => ctx.rowsWorker.cut(...chunk),
        );
        const report = {
          backtest: toShareable(row),
          metrics: METRICS,
          chart: await readRunChart(ctx, row, range),
          plots: await readPlotChart(ctx, row, range),
          trades: toTradeColumns(trades, row),
          fills,
          spread,
          monthly: toReturnRows(returnsOf(days, row, "monthly")),
          yearly: toReturnRows(returnsOf(days, row, "yearly")),
          stress: await readStressResult(ctx.db, row),
        };
        ctx.answer.take(REPORT_BYTES);
        return report;
      });
    }),
};

/** The fills of the market whose candles a report draws: the run's own, or the benchmark of many. */
async function readChartFills(ctx: UserContext, row: Backtest): Promise<z.infer<typeof fillsSchema>> {
  const markets = marketsOf(row);
  const benchmark = `${row.symbol}@${row.exchange}`;
  if (markets.length === 0) return await readFills(ctx, row, { from: -Infinity });
  if (!markets.some(({ instrument }) => instrument === benchmark)) return { fills: 0, trades: toTradeColumns([], row) };
  return await readFills(ctx, row, { from: -Infinity, instrument: benchmark });
}

/** The data of a report. */
export type Report = z.infer<typeof reportSchema>;
