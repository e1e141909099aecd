/** Tools that ask many questions at once. */
import { z } from "zod";
import { optimizationSchema } from "../../routers/optimizations/optimization_records.ts";
import { fitPage, fitRows } from "./answers.ts";
import {
  idField,
  marketsShape,
  markFailure,
  questionFields,
  showTries,
  toQuestion,
  waitField,
  waitForBacktest,
} from "./run_tools.ts";
import { type AgentApi, pageFields, tool } from "./tool.ts";

type Optimization = Awaited<ReturnType<AgentApi["optimizations"]["get"]>>["optimization"];

// Points and markets of a scan that are shown.
const RANKED_MAX = 10;

export const RESEARCH_TOOLS = [
  tool({
    name: "optimize",
    title: "Optimize parameters",
    description:
      "Tries many parameters of a strategy and says how much of the best result is luck. With walk_forward, the best of each " +
      "training window trades the days after it, which is the honest figure. The best trial is a look back: never report it without " +
      "the conclusion beside it.",
    input: {
      ...questionFields,
      space: z.record(z.string(), z.unknown()).optional()
        .describe(
          'As in {"fast":{"min":5,"max":50,"step":5},"slow":{"values":[60,100]}}; the bounds of the schema without it.',
        ),
      constraints: z.array(z.string().max(200)).max(20).default([]).describe('As in ["fast < slow"].'),
      method: z.enum(["grid", "random", "tpe"]).default("grid"),
      objective: z.string().max(100).default("sharpe").describe("A metric, as in total_return."),
      trials_max: z.int().min(1).max(10_000).optional().describe("The most points that are tried."),
      walk_forward: z.strictObject({ train_days: z.int().min(1), test_days: z.int().min(1) }).optional()
        .describe('Days to choose on and days to test on, as in {"train_days":180,"test_days":30}.'),
      markets: z.strictObject({ ...marketsShape, missing: z.enum(["fail", "skip"]).default("fail") }).optional()
        .describe(
          "Tries each point in each of these instruments, or of a universe, each alone; the answer ranks points by the median " +
            "over the markets, which is worth more than the best trial.",
        ),
      wait_seconds: waitField,
    },
    isReading: false,
    call: async (
      api,
      { wait_seconds, space, constraints, method, objective, trials_max, walk_forward, markets, ...input },
      signal,
    ) => {
      const asked = { space, constraints, method, objective, trials_max, walk_forward, markets };
      const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
      const request = OPTIMIZATION.parse({ ...toQuestion(input), ...given });
      const { optimization } = await api.optimizations.create({ optimization: request });
      return await waitForOptimization(api, optimization.id, wait_seconds, signal);
    },
  }),
  tool({
    name: "read_optimization",
    title: "Read an optimization",
    description: "An optimization's progress, best trials, luck, the tries around it, and walk-forward windows.",
    input: { id: idField },
    isReading: true,
    call: async (api, { id }) => await showOptimization(api, (await api.optimizations.get({ id })).optimization),
  }),
  tool({
    name: "list_optimizations",
    title: "List optimizations",
    description: "This account's optimizations with their best trial and how much of it is luck, newest first.",
    input: {
      status: optimizationSchema.shape.status.optional(),
      ...pageFields(10),
    },
    isReading: true,
    call: async (api, input) => {
      const { optimizations, next_cursor: cursor } = await api.optimizations.list(input);
      const next = cursor === null ? {} : { more: `call list_optimizations with cursor ${cursor}` };
      return fitPage("list_optimizations", "optimizations", optimizations.map(summarize), next);
    },
  }),
  tool({
    name: "backtest_trial",
    title: "Run a trial as a backtest",
    description: "A trial of an optimization as a complete backtest, with its trades.",
    input: { id: idField, number: z.int().min(1).describe("The trial's number."), wait_seconds: waitField },
    isReading: false,
    call: async (api, { id, number, wait_seconds }, signal) => {
      const { backtest } = await api.optimizations.backtestTrial({ id, number });
      return await waitForBacktest(api, backtest.id, wait_seconds, signal);
    },
  }),
  tool({
    name: "stress_test",
    title: "Stress a backtest",
    description:
      "Runs a completed backtest again with higher costs, later orders, worse prices, parameters beside its own, and without its " +
      "best trades, days and years, and parts its days by regimes. A result that one of these turns into a loss is fragile: say so.",
    input: { id: idField, wait_seconds: waitField },
    isReading: false,
    call: async (api, { id, wait_seconds }, signal) => {
      const { stress_test } = await api.stressTests.create({ id });
      return await waitForStressTest(api, stress_test.id, wait_seconds, signal);
    },
  }),
  tool({
    name: "wait_for",
    title: "Wait",
    description: "Waits for a backtest, an optimization or a stress test and answers its result, or how far it is.",
    input: { kind: z.enum(["backtest", "optimization", "stress_test"]), id: idField, wait_seconds: waitField },
    isReading: true,
    call: (api, { kind, id, wait_seconds }, signal) => WAITS[kind](api, id, wait_seconds, signal),
  }),
];

// The procedure's own schema checks what is in it.
const OPTIMIZATION = z.looseObject({
  symbol: z.string(),
  exchange: z.string(),
  strategy: z.string(),
  start_date: z.string(),
  end_date: z.string(),
  initial_balance: z.number(),
});

/** A row of the list. */
function summarize({ best: [best], luck, trials, ...optimization }: Optimization): object {
  const { id, name, status, progress, strategy, symbol, exchange, start_date, end_date, objective } = optimization;
  const { created_at, error, windows } = optimization;
  return {
    ...{ id, name, status, progress, strategy, symbol, exchange, start_date, end_date, created_at, objective },
    ...(error === null ? {} : { error: markFailure(error) }),
    trials: trials.done,
    is_walk_forward: windows !== null,
    ...(best === undefined
      ? {}
      : { best: { number: best.number, parameters: best.parameters, value: best.objective } }),
    ...(luck === null ? {} : { luck: luck.conclusion }),
  };
}

async function waitForOptimization(api: AgentApi, id: string, seconds: number, signal: AbortSignal): Promise<object> {
  signal.throwIfAborted();
  await api.optimizations.get({ id, wait: seconds });
  // With the tries that its best trial is one of.
  return await showOptimization(api, (await api.optimizations.get({ id })).optimization);
}

async function waitForStressTest(api: AgentApi, id: string, seconds: number, signal: AbortSignal): Promise<object> {
  signal.throwIfAborted();
  const { stress_test } = await api.stressTests.get({ id, wait: seconds });
  const { backtest_id, status, progress, error, result } = stress_test;
  const head = { id, backtest_id, status, ...(error === null ? {} : { error: markFailure(error) }) };
  if (result === null) return { ...head, progress, more: "call wait_for with kind stress_test and this id" };
  const { rows, regimes, break_even_cost, notes } = result;
  return fitRows(
    { ...head, break_even_cost, notes },
    "rows",
    [...rows, ...regimes],
    () => `GET /api/stress-tests/${id} has the others`,
  );
}

const WAITS = {
  backtest: waitForBacktest,
  optimization: waitForOptimization,
  stress_test: waitForStressTest,
} as const;

async function showOptimization(api: AgentApi, optimization: Optimization): Promise<object> {
  const { id, status, progress, strategy, symbol, exchange, objective, points, trials, error } = optimization;
  const { luck, overfitting, out_of_sample, windows } = optimization;
  const isOpen = status === "queued" || status === "running";
  const head = {
    id,
    status,
    progress,
    strategy,
    symbol,
    exchange,
    objective,
    points,
    trials,
    ...(error === null ? {} : { error: markFailure(error) }),
    // First, so that no cut takes it.
    ...showTries(optimization.tries),
    ...(luck === null ? {} : { luck: withoutDrawing(luck) }),
    ...(overfitting === null ? {} : { overfitting }),
    ...(out_of_sample === null ? {} : { out_of_sample: withoutCurve(out_of_sample) }),
    ...(isOpen ? { more: "call wait_for with this id" } : {}),
  };
  const best = { ...head, best: optimization.best, ...await readRanking(api, optimization) };
  return windows === null ? best : fitRows(best, "windows", windows, () => "the API has the other windows");
}

/** The first points and markets of a scan. */
async function readRanking(api: AgentApi, { id, markets }: Optimization): Promise<object> {
  if (markets === null) return {};
  const { ranking } = await api.optimizations.ranking({ id, points: RANKED_MAX });
  return { markets, ranking: { ...ranking, markets: ranking.markets.slice(0, RANKED_MAX) } };
}

/** Leaves out the days of the curve, which are for a drawing. */
function withoutCurve({ equity: _, ...figures }: NonNullable<Optimization["out_of_sample"]>) {
  return figures;
}

/** The distribution is for a drawing. */
function withoutDrawing({ distribution: _, against_benchmark, ...luck }: NonNullable<Optimization["luck"]>) {
  if (against_benchmark === null) return { ...luck, against_benchmark };
  const { distribution: __, ...benchmark } = against_benchmark;
  return { ...luck, against_benchmark: benchmark };
}
