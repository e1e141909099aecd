/** Recomputes the figures of luck with the program of docs/research.md in Debian's NumPy and SciPy: `deno task test:debian`. */
import { expect } from "@std/expect";
import { DAY_MS } from "../../engine/time/durations.ts";
import { ratioMetrics } from "../../engine/metrics/ratios.ts";
import { measureLuck } from "../../research/overfitting.ts";
import type { Luck } from "../../research/luck/conclusion.ts";
import { Random } from "../../research/numbers/random_numbers.ts";
import { plateau } from "../../research/plateau.ts";
import { pointAt, type Space } from "../../research/space.ts";
import { FIRST_POINTS } from "../../research/tpe.ts";
import { leaveOut, measureRegimes } from "../../research/stress/days.ts";
import { blockPaths } from "../../research/monte_carlo/return_paths.ts";
import type { FigureName } from "../../research/monte_carlo/paths.ts";
import { listAccountDays, stitchWindows } from "../../research/walk_forward.ts";
import { PATH_COLUMNS, POINT_COLUMNS } from "../../routers/monte_carlo/monte_carlo_paths.ts";
import { ACCOUNT_COLUMNS, RETURN_COLUMNS, SPLIT_COLUMNS } from "../../routers/optimizations/trial_returns.ts";
import type { Column } from "../../workers/rows/table_format.ts";
import { trialColumns } from "../../workers/rows/write_trials.ts";
import { writeTable } from "../../server/answers/encode_table.ts";
import { toTablePart } from "../../workers/rows/table_part.ts";
import { blockIn, readPage } from "../support/pages.ts";

const [TRIALS, DAYS, SEED, YEAR] = [12, 200, 2 ** 33 + 5, 252];
const [INITIAL, RUIN] = [1_000, 0.15];

/** Trials that share a part of each day; the fourth has an edge. */
function invent(): Float64Array[] {
  const random = new Random(1);
  const shared = Float64Array.from({ length: DAYS }, () => random.normal());
  return Array.from({ length: TRIALS }, (_, trial) => {
    const edge = trial === 3 ? 0.4 : trial > 9 ? -0.4 : 0;
    return shared.map((each) => 0.01 * (0.5 * each + random.normal() + edge));
  });
}

/** Twelve points; the fourth one is that with the edge. */
const SPACE: Space = {
  axes: [
    { name: "fast", count: 3, first: 5, step: 5, decimals: 0 },
    { name: "slow", count: 4, first: 20, step: 10, decimals: 0 },
  ],
};

const near = (value: number | null | undefined) => expect.closeTo(value ?? NaN, 9);

/** The figures of a check as the program prints them. */
function figuresOf({ best, expected_best, p_value, spa_p_value, survivors, searches, distribution }: NonNullable<
  Luck["against_benchmark"]
>) {
  return {
    ...{ best: near(best), expected_best: near(expected_best), p_value: near(p_value), spa_p_value: near(spa_p_value) },
    ...{ survivors: survivors?.count, searches: near(searches) },
    distribution: [near(distribution?.from), near(distribution?.to), ...distribution?.counts ?? []],
  };
}

for (const method of ["grid", "tpe"] as const) {
  Deno.test(`the program of docs/research.md gives the service's figures (${method})`, () => recompute(method));
}

async function recompute(method: "grid" | "tpe"): Promise<void> {
  const program = blockIn(await readPage("docs/research.md"), "python", "def resample");
  const returns = invent();
  const numbers = returns.map((_, i) => 2 * i + 1);
  const best = 3;
  const rows = returns.flatMap((each, i) =>
    Array.from(each, (value, day) => ({ number: numbers[i]!, day: day + 1, return: value }))
  );
  const benchmark = Float64Array.from(returns[3]!, (each, day) => each / 2 + returns[day % TRIALS]![day]! / 4);
  const held = Array.from(benchmark, (value, day) => ({ number: 0, day: day + 1, return: value }));
  const sharpes = returns.map((each) =>
    Number(ratioMetrics({ periodsPerYear: YEAR, riskFreeRate: 0 }, { returns: each }).sharpe)
  );
  const trials = sharpes.map((sharpe, point) => ({
    ...{ number: numbers[point]!, sharpe },
    ...Object.fromEntries(Object.entries(pointAt(SPACE, point)).map(([name, value]) => [`parameters.${name}`, value])),
  }));
  const columns = trialColumns(SPACE).filter(({ name }) => /^(number|sharpe|parameters\..*)$/.test(name));
  const files = {
    "returns.csv": [RETURN_COLUMNS, rows],
    "benchmark.csv": [RETURN_COLUMNS, held],
    "trials.csv": [columns, trials],
  } as const;
  const found = await runProgram(program, files, [String(SEED), String(YEAR), String(numbers[best]), method]);
  const starts = method === "tpe" ? numbers.flatMap((number, i) => number <= FIRST_POINTS ? [i] : []) : [];
  const { luck, overfitting } = measureLuck({
    ...{ trials: TRIALS, returns, numbers, best, trades: 30, starts, benchmark, seed: SEED },
    ...{ objective: "sharpe", direction: "max", periodsPerYear: YEAR, riskFreeRate: 0 },
    plateau: plateau(SPACE, best, (point) => sharpes[point]),
  });
  if (luck.against_benchmark === null) throw new Error("Cannot compare with a benchmark");
  const { independent_trials, expected_best_sharpe, deflated_sharpe, overfitting_probability, median_rank } =
    overfitting;
  expect(found).toEqual({
    ...figuresOf(luck),
    against_benchmark: figuresOf(luck.against_benchmark),
    plateau: near(overfitting.plateau),
    ...{ independent_trials: near(independent_trials), expected_best_sharpe: near(expected_best_sharpe) },
    ...{ deflated_sharpe: near(deflated_sharpe), overfitting_probability, median_rank: near(median_rank) },
    probabilistic_sharpe: near(overfitting.probabilistic_sharpe),
    haircut_sharpe: near(overfitting.haircut_sharpe),
    minimum_track_record_days: expect.closeTo(overfitting.minimum_track_record_days ?? NaN, 6),
    tested_paths: luck.tested_paths?.paths.map(({ total_return }) => near(total_return)),
    loss_probability: overfitting.loss_probability,
    degradation_slope: near(overfitting.degradation_slope),
  });
}

Deno.test("the second program of docs/research.md gives the figures of splits, accounts and paths", async () => {
  const program = blockIn(await readPage("docs/research.md"), "python", "The account out of sample");
  const returns = invent();
  const { overfitting, splits } = measureLuck({
    ...{ trials: TRIALS, returns, numbers: returns.map((_, i) => i + 1), best: 3, trades: 30, benchmark: null },
    ...{ plateau: 1, seed: SEED, objective: "sharpe", direction: "max", periodsPerYear: YEAR, riskFreeRate: 0 },
  });
  const traded = [{ returns: returns[3]!, dates: null, trainAnnualReturn: null }];
  const rates = { initialBalance: INITIAL, periodsPerYear: YEAR, riskFreeRate: 0 };
  const account = stitchWindows(traded, rates);
  const days = listAccountDays(traded, INITIAL);
  const { sample, kept } = blockPaths(
    { ...rates, returns: returns[3]!, runs: 300, seed: 7, ruinDrawdown: RUIN, onPath: () => {} },
    6,
  );
  const { sampling, figures, curves } = kept;
  const { positions } = sample.curves;
  if (splits === null) throw new Error("Cannot split the trials");
  const rowsOf = (columns: Readonly<Record<string, ArrayLike<number>>>, first: object = {}) =>
    Array.from(Object.values(columns)[0]!, (_, i) => ({
      ...{ split: i + 1, day: i + 1, path: i + 1, date: null, ...first },
      ...Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, values[i]])),
    }));
  const points = Array.from(curves.equity, (equity, i) => ({
    ...{ sampling, equity, path: Math.floor(i / positions.length) + 1, position: positions[i % positions.length] },
  }));
  const { chosen, judged, ranks: rank, growths: growth } = splits;
  const files = {
    "splits.csv": [SPLIT_COLUMNS, rowsOf({ chosen, judged, rank, growth })],
    "account.csv": [ACCOUNT_COLUMNS, rowsOf({ return: days.returns, equity: days.equity })],
    "paths.csv": [PATH_COLUMNS, rowsOf(figures, { sampling })],
    "curves.csv": [POINT_COLUMNS, points],
  } as const;
  const found = await runProgram(program, files, [String(YEAR), String(INITIAL), String(RUIN)]);
  const money = (value: number) => expect.closeTo(value, 6);
  const { quantiles: finals } = sample.figures.final_equity;
  const quantilesOf = (name: FigureName) => Object.values(sample.figures[name].quantiles ?? {}).map(near);
  expect(found).toEqual({
    overfitting_probability: overfitting.overfitting_probability,
    loss_probability: overfitting.loss_probability,
    degradation_slope: near(overfitting.degradation_slope),
    median_rank: near(overfitting.median_rank),
    total_return: near(account.total_return),
    annual_return: near(account.annual_return),
    annual_volatility: near(account.annual_volatility),
    sharpe: near(account.sharpe),
    sharpe_low: near(account.sharpe_low ?? null),
    sharpe_high: near(account.sharpe_high ?? null),
    sortino: near(account.sortino),
    max_drawdown: near(account.max_drawdown),
    quantiles: {
      final_equity: Object.values(finals ?? {}).map(money),
      max_drawdown: quantilesOf("max_drawdown"),
      sharpe: quantilesOf("sharpe"),
      losing_streak: quantilesOf("losing_streak"),
    },
    probability_of_loss: sample.probability_of_loss,
    probability_of_ruin: sample.probability_of_ruin,
    median_curve: sample.curves.p50.map(money),
  });
});

Deno.test("the third program of docs/research.md gives the figures of a backtest's parts and of its place among paths", async () => {
  const program = blockIn(await readPage("docs/research.md"), "python", "Without the best trades");
  const returns = invent()[3]!;
  const start = Date.parse("2023-08-15T00:00:00Z");
  const time = returns.map((_, i) => start + i * DAY_MS);
  const random = new Random(5);
  const benchmark = returns.map((each, i) => (0.3 * each + 0.01 * random.normal()) * (i % 60 < 20 ? 3 : 1));
  // The last one is open.
  const trades = Array.from({ length: 30 }, (_, i) => {
    const entryTime = start + (6 * i + 1) * DAY_MS + 3_600_000;
    return { entryTime, exitTime: i === 29 ? null : entryTime + 2 * DAY_MS, pnl: 10 * random.normal() };
  });
  const rates = { initialBalance: INITIAL, periodsPerYear: YEAR, riskFreeRate: 0 };
  const { sample, kept } = blockPaths(
    { ...rates, returns, runs: 300, seed: 7, ruinDrawdown: RUIN, onPath: () => {} },
    6,
  );
  let close = 100;
  const iso = (ms: number | null) => ms === null ? null : new Date(ms).toISOString();
  const number = (name: string): Column => ({ name, kind: "number", isNullable: true });
  const moment = (name: string): Column => ({ name, kind: "time", isNullable: true });
  const files = {
    "returns.csv": [
      [moment("timestamp"), number("return")],
      [...time].map((ms, i) => ({
        ...{ timestamp: iso(ms), return: returns[i] },
      })),
    ],
    "trades.csv": [
      [moment("entry_time"), moment("exit_time"), number("pnl")],
      trades.map(({ entryTime, exitTime, pnl }) => ({
        ...{ entry_time: iso(entryTime), exit_time: iso(exitTime), pnl },
      })),
    ],
    "candles.csv": [
      [moment("timestamp"), number("open"), number("close")],
      [...time].map((ms, i) => {
        const open = close;
        return { timestamp: iso(ms), open, close: close *= 1 + benchmark[i]! };
      }),
    ],
    "paths.csv": [
      PATH_COLUMNS,
      Array.from(kept.figures.sharpe, (_, i) => ({
        ...{ sampling: kept.sampling, path: i + 1 },
        ...Object.fromEntries(Object.entries(kept.figures).map(([name, values]) => [name, values[i]])),
      })),
    ],
  } as const;
  const found = await runProgram(program, files, [String(YEAR), String(INITIAL)]);
  const days = { time, returns, benchmark, ...rates };
  const rows = leaveOut(days, trades, INITIAL);
  const figuresOf = ({ figures }: Pick<typeof rows[number], "figures">) => [
    ...[near(figures?.total_return), near(figures?.sharpe), near(figures?.max_drawdown), figures?.trades],
  ];
  const [fewTrades, fewDays, without2023, without2024] = rows;
  const ratios = ratioMetrics(rates, { returns });
  expect(found).toEqual({
    sharpe_error: near(Number(ratios.sharpe_error)),
    interval: [near(Number(ratios.sharpe_low)), near(Number(ratios.sharpe_high))],
    stress: {
      trades: [near(fewTrades?.figures?.total_return), fewTrades?.figures?.trades],
      days: figuresOf(fewDays!).slice(0, 3),
      years: { "2023": figuresOf(without2023!), "2024": figuresOf(without2024!) },
    },
    regimes: measureRegimes(days, trades).map(figuresOf),
    percentiles: {
      final_equity: sample.figures.final_equity.percentile,
      max_drawdown: sample.figures.max_drawdown.percentile,
      sharpe: sample.figures.sharpe.percentile,
    },
  });
});

/** Runs a program of the page over files. @returns What it prints. */
async function runProgram(
  program: string,
  files: Readonly<Record<string, readonly [readonly Column[], readonly object[]]>>,
  values: readonly string[],
): Promise<unknown> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  for (const [name, [columns, rows]] of Object.entries(files)) {
    await Deno.writeFile(
      `${folder}/${name}`,
      ReadableStream.from(writeTable("csv", columns, [toTablePart(columns, rows)])),
    );
  }
  await Deno.writeTextFile(`${folder}/program.py`, program);
  const args = ["program.py", ...Object.keys(files), ...values];
  const { stdout, stderr } = await new Deno.Command("/usr/bin/python3", { args, cwd: folder }).output();
  await Deno.remove(folder, { recursive: true });
  expect(new TextDecoder().decode(stderr)).toBe("");
  return JSON.parse(new TextDecoder().decode(stdout));
}
