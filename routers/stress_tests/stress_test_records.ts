import { z } from "zod";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import { type StressTest, stressTestRecords } from "../../db/stress_tests.ts";
import { REGIME_GROUPS, STRESS_GROUPS } from "../../research/stress/stress_table.ts";
import { recordReader } from "../common/stored_records.ts";
import { Runs } from "../runs/runs.ts";

/** Stress tests, as their owners find and follow them. */
export const stressTestRuns = new Runs<StressTest>(stressTestRecords, {
  notFound: "STRESS_TEST_NOT_FOUND",
  check: (row) => toStressTest(row),
});

const errorSchema = z.object({ code: z.string(), message: z.string() });

const figuresSchema = z.object({
  total_return: z.number().nullable(),
  sharpe: z.number().nullable(),
  max_drawdown: z.number().nullable().describe("The deepest fall from a peak; of days, after each of them."),
  trades: z.int().nullable().describe("Closed trades; of years and regimes, those that began in them."),
}).meta({ id: "StressFigures" });

/** A stress test, as every answer has it. */
export const stressTestSchema = z.object({
  id: z.uuid(),
  backtest_id: z.uuid(),
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number(),
  attempts: z.int(),
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
  error: errorSchema.nullable(),
  result: z.object({
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
  }).nullable(),
}).meta({ id: "StressTest" });

/** @throws {UnreadableRecord} */
export const toStressTest = recordReader(({ id }) => `stress test ${id}`, stressTestSchema, show);

function show(row: StressTest): z.infer<typeof stressTestSchema> {
  const { result } = row;
  return {
    id: row.id,
    backtest_id: row.backtestId,
    status: row.status,
    progress: row.progress,
    attempts: row.attempts,
    created_at: row.createdAt.toISOString(),
    started_at: row.startedAt?.toISOString() ?? null,
    finished_at: row.finishedAt?.toISOString() ?? null,
    error: row.error,
    result: result === null
      ? null
      : { ...result, rows: [...result.rows], regimes: [...result.regimes], notes: [...result.notes] },
  };
}
