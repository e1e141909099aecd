/** The shapes of a sandbox's messages: its process may be taken over, so its parent believes none before it has looked. */
import { z } from "zod";
import { CORRELATED_MAX, SAMPLES_MAX } from "../../engine/portfolio/portfolio.ts";
import { RUN_FAILURE_CODES } from "../common/outcome.ts";
import { type AnswerBounds, AnswerFault } from "./answer_bounds.ts";
import { isStoredLog } from "./contracts/log_bounds.ts";
import { PLOT_NAME_CHARS_MAX, PLOTS_MAX, SCHEMA_CHARS_MAX } from "./contracts/layout.ts";
import type { SandboxJob } from "./task.ts";
import { RUN_ORDERS_MAX, TAG_BYTES_MAX, WARMUP_MAX } from "./contracts/abi.ts";

/** Characters of a sentence: of an error, a note or a finding. */
export const SENTENCE_CHARS_MAX = 8192;
export const NOTES_MAX = 64;
/** Metrics, and reasons of those that are undefined. */
export const METRICS_MAX = 256;
/** Rows of trades, of which a close of many makes many. */
const ROWS_MAX = 4 * RUN_ORDERS_MAX;

const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const sentence = z.string().max(SENTENCE_CHARS_MAX);
const name = z.string().max(PLOT_NAME_CHARS_MAX);
/** JSON has null for what is no number. */
const number = z.number().nullable();
const log = z.custom<readonly string[]>(isStoredLog, "is longer than a log may be");
/** A list or a record whose length is looked at first: a fault in each of a million members would take a GiB to describe. */
const few = <Schema extends z.ZodType>(most: number, schema: Schema) =>
  z.custom((given) => countMembers(given) <= most, `is none, or has more than ${most} members`).pipe(schema);
const metrics = few(METRICS_MAX, z.record(name, z.union([number, name])));
const reasons = few(METRICS_MAX, z.record(name, sentence));
const notes = few(NOTES_MAX, z.array(sentence));
const finding = z.object({ status: z.enum(["passed", "failed", "skipped"]), evidence: sentence });
const refused = z.object({ status: z.enum(["passed", "failed"]), evidence: sentence });
const bound = z.object({ final_equity: number, trades: count });
const tags = z.custom<readonly (string | null)[]>(areTags, "has a tag that is too long");

const doubles = (rows: number) =>
  z.instanceof(Float64Array).refine(({ length }) => length <= rows, `has more than ${rows} rows`);
const integers = (rows: number) =>
  z.instanceof(Int32Array).refine(({ length }) => length <= rows, `has more than ${rows} rows`);

/** A table whose columns are all as long as it says. */
const table = (columns: z.ZodRawShape) =>
  z.object({ count: count.max(ROWS_MAX), ...columns }).refine(
    (given) => Object.keys(columns).every((key) => Object(Reflect.get(given, key)).length === given.count),
    "has columns of different lengths",
  );
const bytes = z.instanceof(Uint8Array);
const sides = z.instanceof(Int8Array);
const rows = doubles(ROWS_MAX);
const places = integers(ROWS_MAX);
const orders = table({
  ...{ time: rows, side: sides, type: bytes, quantity: rows, limitPrice: rows, stopPrice: rows, status: bytes },
  ...{ reason: bytes, filledQuantity: rows, price: rows, fillTime: rows, tag: tags },
});
const trades = table({
  ...{ side: sides, quantity: rows, entryTime: rows, entryPrice: rows, exitTime: rows, exitPrice: rows, fees: rows },
  ...{ pnl: rows, return: rows, candles: places, mae: rows, mfe: rows, exitReason: bytes, ambiguous: bytes },
  ...{ entryOrder: places, exitOrder: places, tag: tags, exitTag: tags },
});

const plotsOf = (candles: number) =>
  few(PLOTS_MAX, z.array(z.object({ name, pane: name.nullable(), values: doubles(candles) })));

const marketPlotsOf = (markets: number, marks: number) => {
  const market = count.max(Math.max(0, markets - 1)).nullable();
  return few(PLOTS_MAX, z.array(z.object({ market, name, pane: name.nullable(), values: doubles(marks) })));
};

/** @param markets Of the run; 0: it has one, and no list of them. */
const failedOf = (candles: number, markets: number) =>
  z.object({
    type: z.literal("failed"),
    code: z.enum([...RUN_FAILURE_CODES, "INVALID_MODULE", "INVALID_SCRIPT"]),
    message: sentence,
    log: log.optional(),
    plots: plotsOf(candles).optional(),
    marketPlots: (markets === 0 ? z.undefined() : marketPlotsOf(markets, candles)).optional(),
  });

const parameterSchema = z.record(z.string(), z.unknown()).nullable().refine(
  (schema) => JSON.stringify(schema).length <= SCHEMA_CHARS_MAX,
  `has more than ${SCHEMA_CHARS_MAX} characters`,
);

const dryRun = z.object({
  ...{ warmup: count, candles: count, orders: count, refused, nanosecondsPerCandle: count },
  notes,
  decidesOn: z.literal("markets").optional(),
  ...{ abiVersion: count.optional(), memoryBytesMin: count.optional(), memoryBytesMax: count.optional() },
});

const runOf = (candles: number) =>
  z.object({
    result: z.object({
      ...{ trades, orders, metrics, undefinedMetrics: reasons, dailyReturns: doubles(candles) },
      ...{ equity: doubles(candles), position: doubles(candles) },
      balances: z.object({ from: integers(candles), cash: doubles(candles), units: doubles(candles) }),
      bounds: z.object({ stop_first: bound, target_first: bound }).nullable(),
      notes,
    }),
    integrity: z.object({ lookahead: finding, determinism: finding, warm_up: finding, orders: finding }),
    log: log.optional(),
    plots: plotsOf(candles).optional(),
  });

const MOMENT_MS_MAX = 8.64e15;

/** Times in order, each of which a date can be made of. */
const moments = (marks: number) =>
  doubles(marks).refine(
    (times) => times.every((time, n) => Math.abs(time) <= MOMENT_MS_MAX && (n === 0 || time >= times[n - 1]!)),
    "has times that are none, or out of order",
  );
/** Rows of a list of this length. */
const rowsOf = <Column extends Int32Array | Uint16Array>(kind: new () => Column, most: number, length: number) =>
  z.instanceof(kind).refine(
    (column) => column.length <= most && column.every((row: number) => row >= 0 && row < length),
    `has more than ${most} rows, or one that is not there`,
  );

/** A run over many markets. */
const marketsRunOf = (markets: number, marks: number) => {
  const ofMarkets = rowsOf(Uint16Array, ROWS_MAX, markets);
  const contribution = doubles(markets).refine(({ length }) => length === markets, "is not of all markets");
  const counts = integers(markets).refine(({ length }) => length === markets, "is not of all markets");
  const marked = doubles(marks);
  const samples = SAMPLES_MAX * markets;
  const result = z.object({
    ...{ trades: trades.safeExtend({ market: ofMarkets }), orders: orders.safeExtend({ market: ofMarkets }) },
    ...{ metrics, undefinedMetrics: reasons, dailyReturns: marked, time: moments(marks), instant: moments(marks) },
    ...{ equity: marked, cash: marked, netExposure: marked, grossExposure: marked },
    contributions: z.object({
      ...{ pnl: contribution, fees: contribution, trades: counts, marksHeld: counts, share: contribution },
    }),
    weights: z.object({
      ...{ mark: rowsOf(Int32Array, samples, marks), market: rowsOf(Uint16Array, samples, markets) },
      ...{ weight: doubles(samples), marks: rowsOf(Int32Array, SAMPLES_MAX, marks) },
    }),
    profits: z.object({
      ...{ mark: rowsOf(Int32Array, samples, marks), market: rowsOf(Uint16Array, samples, markets) },
      profit: doubles(samples),
    }),
    holdings: z.object({ mean: number, largestWeight: number, herfindahl: number }).nullable(),
    correlation: z.object({
      markets: rowsOf(Uint16Array, CORRELATED_MAX, markets),
      values: doubles(CORRELATED_MAX * CORRELATED_MAX),
    }),
    bounds: z.object({ stop_first: bound, target_first: bound }).nullable(),
    marginBounds: z.object({ worst_together: bound, closes_only: bound }).nullable(),
    notes,
  }).refine(
    ({ time, instant, equity, cash, netExposure, grossExposure, trades, orders, weights, correlation }) =>
      time.length > 0 && weights.marks.every((mark) => mark < time.length) &&
      correlation.values.length === correlation.markets.length ** 2 &&
      [instant, equity, cash, netExposure, grossExposure].every(({ length }) => length === time.length) &&
      trades.market.length === trades.count && orders.market.length === orders.count,
    "has columns of different lengths",
  );
  return z.object({
    result,
    integrity: z.object({ lookahead: finding, determinism: finding, warm_up: finding, orders: finding }),
    log: log.optional(),
    plots: marketPlotsOf(markets, marks).optional(),
  });
};

function valueOf(job: SandboxJob, { candlesMax, bodyBytesMax }: AnswerBounds): z.ZodObject {
  switch (job.kind) {
    case "validate":
      return z.object({ report: dryRun, log });
    case "check_script":
      return z.object({ report: dryRun, log, parameterSchema });
    case "fetch":
      return z.object({ body: bytes.refine(({ length }) => length <= bodyBytesMax) });
    case "run_markets":
    case "script_markets":
    case "remote_markets":
      return marketsRunOf(job.task.markets.length, candlesMax);
    case "run":
    case "script":
    case "remote":
      return runOf(candlesMax);
    default:
      // Trials and paths were sent one by one.
      return z.object({});
  }
}

/** The shape of the messages of a job. */
export function shapeOfAnswers(job: SandboxJob, bounds: AnswerBounds): z.ZodType {
  const { candlesMax } = bounds;
  const failed = failedOf(candlesMax, "task" in job && "markets" in job.task ? job.task.markets.length : 0);
  const completed = z.literal("completed");
  const days = doubles(candlesMax);
  const values = { metrics, undefinedMetrics: reasons, dailyReturns: days, marks: days.optional() };
  const trial = z.object({ type: completed, ...values });
  const figures = few(METRICS_MAX, z.record(name, number));
  const path = z.object({ type: completed, figures, curve: doubles(candlesMax + 1) });
  return z.discriminatedUnion("type", [
    z.object({ type: z.literal("memory"), residentBytes: count, cpuMs: z.number() }),
    z.object({
      type: z.literal("progress"),
      decided: count,
      deciding: z.object({ calls: z.int(), preparing: z.int(), candle: z.int(), place: count }),
      candlesDone: count,
      equity: number,
    }),
    z.object({ type: z.literal("lookback"), candles: count.min(1).max(WARMUP_MAX) }),
    z.object({ type: z.literal("log"), from: count, lines: log }),
    z.object({
      type: z.literal("trial"),
      outcome: z.discriminatedUnion("type", [trial, failed, z.object({ type: z.literal("refused") })]),
    }),
    z.object({ type: z.literal("path"), outcome: z.discriminatedUnion("type", [path, failed]) }),
    z.object({ type: z.literal("stopped"), candlesDone: count }),
    z.object({ type: z.literal("broken"), message: z.string() }),
    failed,
    valueOf(job, bounds).extend({ type: completed }),
  ]);
}

/** @throws {AnswerFault} With the field that is wrong. */
export function requireShape(shape: z.ZodType, message: unknown): void {
  const { error } = shape.safeParse(message);
  const [issue] = error?.issues ?? [];
  if (issue !== undefined) throw new AnswerFault(`/${issue.path.map(String).join("/")} ${issue.message}`.slice(0, 500));
}

function countMembers(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : Infinity;
}

function areTags(value: unknown): boolean {
  return Array.isArray(value) &&
    value.every((tag) => tag === null || (typeof tag === "string" && tag.length <= TAG_BYTES_MAX));
}
