/** The series that an optimization's figures are computed from, as tables. */
import { z } from "zod";
import type { Columns } from "../../db/codec/columns.ts";
import type { Optimization } from "../../db/optimizations.ts";
import { readScanDays } from "../../db/scan_markets.ts";
import { readOptimizationSeries } from "../../db/series.ts";
import { readTrialReturns } from "../../db/trial_chunks.ts";
import { countGroups, groupAt } from "../../research/candle_axes.ts";
import { joinDays } from "../../research/joined_days.ts";
import { columnsOf } from "../common/formats.ts";
import { pageRows } from "../common/row_pages.ts";
import type { Page } from "../common/paging.ts";
import type { Context, User } from "../common/trpc.ts";
import { DAY_MS } from "../../market/timeframes.ts";

type Reading = Pick<Context, "db" | "userTurns"> & { readonly user: User };

/** The days that are read: those of the trials, or of the benchmark that they are compared with. */
export const returnsOf = z.enum(["trials", "benchmark"]).default("trials");

/** A trial's number (0 of the benchmark), the day from 1, and its return. */
export const returnSchema = z.object({ number: z.int(), day: z.int(), return: z.number() }).meta({ id: "TrialReturn" });

/** A day of the account out of sample, from 1. */
export const accountDaySchema = z.object({
  day: z.int().describe("From 1."),
  date: z.string().nullable().describe("Null where the test's dates are not known."),
  return: z.number().describe("Of the account on this day, a fraction."),
  equity: z.number().describe("The account at the end of the day."),
}).meta({ id: "AccountDay" });

/** A split of combinatorially symmetric cross-validation, from 1. */
export const splitSchema = z.object({
  split: z.int().describe("From 1: two that follow each other exchange the half that chooses and the other one."),
  chosen: z.number().nullable().describe("The objective of the best trial of the half that chooses, there."),
  judged: z.number().nullable().describe("Its objective in the other half."),
  rank: z.number().describe("Its rank there, from 0 to 1, which is best."),
  growth: z.number().nullable().describe("The logarithm of its account's growth there."),
}).meta({ id: "Split" });

export const RETURN_COLUMNS = columnsOf(returnSchema);
export const ACCOUNT_COLUMNS = columnsOf(accountDaySchema);
export const SPLIT_COLUMNS = columnsOf(splitSchema);

type AccountDay = z.infer<typeof accountDaySchema>;
type Split = z.infer<typeof splitSchema>;

const NONE = new Float64Array();

/** Reads the daily returns of an optimization's trials, or those of its benchmark, a few thousand at a time. */
export function readReturnRows(
  ctx: Reading,
  record: Optimization,
  of: z.infer<typeof returnsOf>,
): AsyncGenerator<Page<z.infer<typeof returnSchema>>> {
  return pageRows(ctx, of === "trials" ? listReturns(ctx, record) : listBenchmark(ctx, record));
}

async function* listReturns({ db }: Reading, { id, space }: Optimization) {
  const calendar = countGroups(space) === null ? null : joinDays(await readScanDays(db, id));
  for await (const { place, point, returns } of readTrialReturns(db, id)) {
    if (calendar === null) {
      yield toReturnRows(place + 1, returns);
      continue;
    }
    // Days of several markets stand beside each other, as those that are compared.
    const joined = new Float64Array(calendar.days.length);
    calendar.place(groupAt(space, point), returns, joined);
    yield toReturnRows(place + 1, joined);
  }
}

async function* listBenchmark({ db }: Reading, { id }: Optimization) {
  yield toReturnRows(0, (await readOptimizationSeries(db, id, "benchmark"))?.["returns"] ?? NONE);
}

function toReturnRows(number: number, returns: Float64Array) {
  return Array.from(returns, (value, i) => ({ number, day: i + 1, return: value }));
}

/** Reads every day of the account out of sample; none of an optimization without one. */
export function readAccountRows(ctx: Reading, id: string): AsyncGenerator<Page<AccountDay>> {
  return pageRows(ctx, listAccount(ctx, id));
}

async function* listAccount({ db }: Reading, id: string) {
  yield toAccountRows(await readOptimizationSeries(db, id, "account") ?? {});
}

function toAccountRows({ returns = NONE, equity = NONE, dates = NONE }: Columns): AccountDay[] {
  return Array.from(returns, (value, i) => {
    const date = dates[i] ?? NaN;
    return {
      day: i + 1,
      date: Number.isNaN(date) ? null : new Date(date * DAY_MS).toISOString().slice(0, 10),
      return: value,
      equity: equity[i] ?? NaN,
    };
  });
}

/** Reads the splits of an optimization's trials; none where there are too few trials or days. */
export function readSplitRows(ctx: Reading, id: string): AsyncGenerator<Page<Split>> {
  return pageRows(ctx, listSplits(ctx, id));
}

async function* listSplits({ db }: Reading, id: string) {
  yield toSplitRows(await readOptimizationSeries(db, id, "splits") ?? {});
}

function toSplitRows({ chosen = NONE, judged = NONE, ranks = NONE, growths = NONE }: Columns): Split[] {
  return Array.from(ranks, (rank, i) => ({
    split: i + 1,
    chosen: finite(chosen[i]),
    judged: finite(judged[i]),
    rank,
    growth: finite(growths[i]),
  }));
}

/** A number as JSON has it: what is infinite or undefined is null. */
function finite(value: number | undefined): number | null {
  return value === undefined || !Number.isFinite(value) ? null : value;
}
