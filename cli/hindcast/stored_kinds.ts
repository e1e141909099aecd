/** The kinds of runs, and how an id finds its own. */
import type { Backtest, Outputs } from "../../client/index.ts";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { formatMetric, formatShare, NONE } from "../drawing.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import type { Caller } from "./caller.ts";
import { describeScan, drawOptimization, type Optimization } from "./optimization_drawing.ts";
import { drawRun } from "./run_drawing.ts";
import { type FoundRun, type RunKind, runKind } from "./run_kind.ts";
import { compareSamples, drawMonteCarlo, drawStressTest, type MonteCarlo, type StressTest } from "./study_drawing.ts";

type Summary = Outputs["backtests"]["summaries"]["backtests"][number];
type Rows = [name: string, text: string][];

const ID_LENGTH = 36;

/** Backtests. The service itself compares them. */
export const BACKTESTS: RunKind = runKind({
  name: "backtests",
  noun: "backtest",
  maker: "hindcast run",
  filters: { status: "status", strategy: "strategy", symbol: "symbol", tag: "tag", search: "search", sort: "sort" },
  procedures: ({ backtests }) => backtests,
  recordOf: ({ backtest }) => backtest,
  draw: (caller, backtest: Backtest, output) => drawRun(caller, backtest, output),
  readPage: ({ backtests }, asked) => backtests.summaries.query(asked),
  itemsOf: ({ backtests }) => backtests,
  listName: "backtests",
  lists: [
    {
      head: ["Id", "Created", "Strategy", "Market", "Status", " Return", " Sharpe", " Drawdown", " Trades"],
      spare: ["Created", " Trades", " Drawdown", "Status"],
      describe: (run: Summary) => [
        ...[run.id, dayOf(run), run.name ?? run.default_name, marketOf(run), statusOf(run)],
        formatMetric("total_return", run.metrics?.total_return),
        formatMetric("sharpe", run.metrics?.sharpe),
        formatMetric("max_drawdown", run.metrics?.max_drawdown),
        formatMetric("trades", run.metrics?.trades),
      ],
    },
    // Strategy and market in one column, and the status where there is no return yet.
    {
      head: ["Id", "Run", " Return", " Sharpe"],
      spare: [],
      describe: (run) => [
        ...[run.id, `${run.name ?? run.default_name}, ${marketOf(run)}`],
        run.metrics === null ? statusOf(run) : formatMetric("total_return", run.metrics.total_return),
        formatMetric("sharpe", run.metrics?.sharpe),
      ],
    },
  ],
  compared: () => ({ settings: [], figures: [] }),
});

export const OPTIMIZATIONS: RunKind = runKind({
  name: "optimizations",
  noun: "optimization",
  maker: "hindcast optimize",
  filters: { status: "status" },
  procedures: ({ optimizations }) => optimizations,
  recordOf: ({ optimization }) => optimization,
  draw: drawOptimization,
  readPage: ({ optimizations }, asked) => optimizations.list.query(asked),
  itemsOf: ({ optimizations }) => optimizations,
  listName: "optimizations",
  lists: [
    {
      head: ["Id", "Created", "Strategy", "Market", "Status", " Trials", "Objective", " Best"],
      spare: ["Created", " Trials", "Objective", "Status"],
      describe: (run: Optimization) => [
        ...[run.id, dayOf(run), run.name ?? run.strategy, describeScan(run), statusOf(run)],
        ...[String(run.trials.done), METRIC_DEFINITIONS[run.objective].label, bestOf(run)],
      ],
    },
    {
      head: ["Id", "Run", " Best"],
      spare: [],
      describe: (run) => [run.id, `${run.name ?? run.strategy}, ${describeScan(run)}`, bestOf(run)],
    },
  ],
  compared: compareOptimization,
});

export const MONTE_CARLOS: RunKind = runKind({
  name: "monte-carlo",
  noun: "Monte Carlo simulation",
  maker: "hindcast monte-carlo",
  filters: { status: "status", backtest: "backtest_id" },
  procedures: ({ monteCarlo }) => monteCarlo,
  recordOf: ({ monte_carlo }) => monte_carlo,
  draw: (_caller, record: MonteCarlo, output) => Promise.resolve(drawMonteCarlo(record, output)),
  readPage: ({ monteCarlo }, asked) => monteCarlo.list.query(asked),
  itemsOf: ({ monte_carlos }) => monte_carlos,
  listName: "monte_carlos",
  lists: [{
    head: ["Id", "Created", "Backtest", "Method", "Status", " Paths", " Lose"],
    spare: ["Created", "Backtest", " Paths"],
    describe: (run: MonteCarlo) => [
      ...[run.id, dayOf(run), run.backtest_id, run.method, statusOf(run), String(run.runs)],
      formatShare(run.result?.samples.at(-1)?.probability_of_loss ?? null),
    ],
  }],
  compared: (record) => ({
    settings: textsOf({
      backtest: record.backtest_id,
      method: record.method,
      runs: record.runs,
      block_days: record.block_days,
      seed: record.seed,
    }),
    figures: compareSamples(record),
  }),
});

export const STRESS_TESTS: RunKind = runKind({
  name: "stress-tests",
  noun: "stress test",
  maker: "hindcast stress",
  filters: { status: "status", backtest: "backtest_id" },
  procedures: ({ stressTests }) => stressTests,
  recordOf: ({ stress_test }) => stress_test,
  draw: (_caller, record: StressTest, output) => Promise.resolve(drawStressTest(record, output)),
  readPage: ({ stressTests }, asked) => stressTests.list.query(asked),
  itemsOf: ({ stress_tests }) => stress_tests,
  listName: "stress_tests",
  lists: [{
    head: ["Id", "Created", "Backtest", "Status"],
    spare: ["Created", "Backtest"],
    describe: (run: StressTest) => [run.id, dayOf(run), run.backtest_id, statusOf(run)],
  }],
  compared: ({ backtest_id: backtest, result }) => ({
    settings: textsOf({ backtest }),
    figures: (result?.rows ?? []).map((
      { name, figures },
    ) => [name, formatMetric("total_return", figures?.total_return)]),
  }),
});

/** Every kind, by its name. */
const RUN_KINDS: readonly RunKind[] = [BACKTESTS, OPTIMIZATIONS, MONTE_CARLOS, STRESS_TESTS];

export const KIND_NAMES = RUN_KINDS.map(({ name }) => name);

/** The kind of a name, which `KIND_NAMES` has. */
export function kindOf(name: string): RunKind {
  return RUN_KINDS.find((kind) => kind.name === name) ?? BACKTESTS;
}

/** A run of any kind by its id. @throws CommandError where there is none. */
export async function findRun(caller: Caller, id: string): Promise<FoundRun> {
  // One request: the client joins the calls of one moment.
  const found = await Promise.all(RUN_KINDS.map((kind) => kind.find(caller, id)));
  const run = found.find((each) => each !== null);
  if (run) return run;
  const message =
    `Cannot find a run of yours with the id ${id}${id.length === ID_LENGTH ? "" : ", which is not a whole id"}: ` +
    `hindcast list shows backtests, and --kind ${KIND_NAMES.slice(1).join(", ")} the others`;
  throw new CommandError(message, EXIT.failed, { code: "BACKTEST_NOT_FOUND" });
}

function compareOptimization(record: Optimization) {
  const { best: [first], overfitting, luck, out_of_sample: tested } = record;
  const { label } = METRIC_DEFINITIONS[record.objective];
  const { strategy, strategy_version: version, start_date, end_date, initial_balance, ...settings } = record;
  const { parameters, space, constraints, method, objective, trials_max, seed, walk_forward } = settings;
  const figures: Rows = [
    ["Trials", String(record.trials.done)],
    [`Best ${label}`, bestOf(record)],
    ["Its parameters", first === undefined ? NONE : showPairs(first.parameters)],
    ["Deflated Sharpe", formatShare(overfitting?.deflated_sharpe ?? null)],
    ["Overfitting probability", formatShare(overfitting?.overfitting_probability ?? null)],
    ["Reality check, p", luck?.p_value?.toFixed(3) ?? NONE],
    ["Out of sample: net return", formatMetric("total_return", tested?.total_return)],
    ["Out of sample: Sharpe", formatMetric("sharpe", tested?.sharpe)],
  ];
  const market = describeScan(record);
  return {
    settings: textsOf({
      ...{ strategy, version, market, start_date, end_date, initial_balance, ...parameters, space, constraints },
      ...{ method, objective, trials_max, seed, walk_forward },
    }),
    figures,
  };
}

function textsOf(settings: object): Rows {
  return Object.entries(settings).map(([name, value]) => [name, showValue(value)]);
}

/** A value as people write it. */
export function showValue(value: unknown): string {
  return value === null ? NONE : typeof value === "string" ? value : JSON.stringify(value);
}

function showPairs(parameters: object): string {
  return Object.entries(parameters).map(([name, value]) => `${name}=${value}`).join(" ");
}

function bestOf({ best: [first], objective }: Optimization): string {
  return formatMetric(objective, first?.objective);
}

function dayOf({ created_at: moment }: { readonly created_at: string }): string {
  return moment.slice(0, 16).replace("T", " ");
}

function marketOf({ symbol, exchange, timeframe }: Summary): string {
  return `${symbol}@${exchange}${timeframe === null ? "" : ` ${timeframe}`}`;
}

function statusOf({ status, progress }: { readonly status: string; readonly progress: number }): string {
  return status === "running" ? `${Math.round(100 * progress)}%` : status;
}
