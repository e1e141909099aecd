/** The result of a stress test. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { REGIME_GROUPS, STRESS_GROUPS } from "../../research/stress/stress_table.ts";
import { errorSchema } from "../runs/run_state.ts";

const figuresSchema = z.object({
  total_return: z.number().nullable(),
  sharpe: z.number().nullable(),
  max_drawdown: z.number().nullable().describe("The deepest fall from a peak; of days, after each of them."),
  trades: z.int().nullable().describe("Closed trades; of years and regimes, those that began in them."),
}).meta({ id: "StressFigures" });

export const stressResultSchema = z.object({
  rows: z.array(
    z.object({
      group: z.enum(STRESS_GROUPS).describe("`as_run` for the backtest itself, or the kind of the change."),
      name: z.string().describe("The change in words."),
      figures: figuresSchema.nullable().describe("Of the run with the change; null where it failed."),
      error: errorSchema.nullable().describe("Why the run with the change failed; else null."),
    }).meta({ id: "StressRow" }),
  ).describe("A change each, the backtest itself first."),
  regimes: z.array(
    z.object({
      group: z.enum(REGIME_GROUPS).describe("The rule by which the days are parted."),
      name: z.string().describe("The days in words."),
      days: z.int().describe("How many days with returns belong to it."),
      figures: figuresSchema.describe("Of these days alone, one after the other."),
    }).meta({ id: "StressRegime" }),
  ).describe("The backtest by years, by the direction of the benchmark, and by its volatility."),
  break_even_cost: z.number().nullable().describe(
    "The commission rate of each fill, beside the backtest's own costs, at which net return is 0, to about a thousandth of it; null without a profit, and beyond 0.5.",
  ),
  notes: z.array(z.string()),
  duration_ms: z.number(),
});

/** A stored result as clients read it. */
export function showStressResult(result: NonNullable<StressTest["result"]>): z.infer<typeof stressResultSchema> {
  return { ...result, rows: [...result.rows], regimes: [...result.regimes], notes: [...result.notes] };
}

/** The result of the newest completed stress test of a backtest; null where there is none. */
export async function readStressResult(db: Db, { id, ownerId }: Backtest): Promise<StressResult | null> {
  const page = { ownerId, status: "completed", where: stressTestRecords.of(id), limit: 1 } as const;
  const [newest] = await stressTestRecords.list(db, page);
  return newest?.result ? showStressResult(newest.result) : null;
}

type StressResult = z.infer<typeof stressResultSchema>;
