import type { BacktestRequest, Outputs } from "../../client/index.ts";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { drawRows, formatMetric } from "../drawing.ts";
import { drawHeatMap } from "../heat_map.ts";
import { wrap } from "../terminal.ts";
import { type Caller, calling } from "./caller.ts";
import { callerFor, type Output, outputFor, print } from "./command.ts";
import { CommandError, EXIT, usageError } from "../exit_codes.ts";
import { showProgress, untilInterrupted } from "./progress.ts";
import { questionCommand, readQuestionOf } from "./question.ts";
import { readNumber, readPair, readValue } from "../values.ts";
import { describeMarkets } from "./run_drawing.ts";

/** A record, as the service answers it. */
export type Optimization = Outputs["optimizations"]["get"]["optimization"];

const TEXT_COLUMNS = 100;
// Points and markets of a scan that are shown.
const RANKED_MAX = 10;

/** `hindcast optimize`. */
export const optimizeCommand = questionCommand(
  "optimize",
  "Try many parameters, and say how much of the best is luck",
  "of several, with commas between, each is tried alone",
)
  .option(
    "-s, --space <name=values...>",
    "values of a parameter: fast=5:50:5 (from:to:step) or fast=5,10,20 (default: the strategy's own bounds)",
  )
  .option("--constraint <rule...>", 'a rule that every point must satisfy, as in "fast < slow"')
  .option(
    "--objective <metric>",
    "the metric that decides which trial is best (default: sharpe)",
  )
  .option("--method <method>", "grid, random or tpe (default: grid)")
  .option("--trials <count>", "the most points that are tried (default: 10000, with tpe 200)")
  .option("--seed <number>", "a number that repeats the draws of random and tpe (default: 0)")
  .option(
    "--walk-forward <train:test>",
    "choose on so many days, test on the days after them, and again further on, as in 365:90",
  )
  .option("--no-wait", "submit it and return at once")
  .action(async (strategy, markets, from, to, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const question = await readQuestionOf([strategy, markets, from, to], options);
    const optimization = { ...toScan(question), ...readSettings(options) };
    const answer = await calling(caller, caller.api.optimizations.create.mutate({ optimization }));
    const { id, status } = answer.optimization;
    if (!options.wait) return print(output, answer, `${id} ${status}`);
    await showEndedOptimization(caller, await followOptimization(caller, id, output), output);
  });

/** Several markets, or those of a universe, are tried each alone: an optimization has no account over many. */
function toScan(question: BacktestRequest) {
  const { instruments, universe, ...parameters } = question.parameters ?? {};
  const named = universe === undefined ? { instruments } : { universe };
  const markets: object = instruments === undefined && universe === undefined ? {} : { markets: named };
  return { ...question, parameters, ...markets };
}

interface SettingOptions {
  readonly space?: readonly string[] | undefined;
  readonly constraint?: readonly string[] | undefined;
  readonly objective?: string | undefined;
  readonly method?: string | undefined;
  readonly trials?: string | undefined;
  readonly seed?: string | undefined;
  readonly walkForward?: string | undefined;
}

/** The settings that a backtest does not have, by the names of the service, which checks the values. */
function readSettings(options: SettingOptions): object {
  const { space, constraint: constraints, objective, method, trials, seed, walkForward } = options;
  const settings = {
    space: space === undefined ? undefined : Object.fromEntries(space.map(readAxis)),
    constraints,
    objective,
    method,
    trials_max: trials === undefined ? undefined : readNumber("--trials", trials),
    seed: seed === undefined ? undefined : readNumber("--seed", seed),
    walk_forward: walkForward === undefined ? undefined : readWindows(walkForward),
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** An axis of a space: `fast=5:50:5` or `fast=5,10,20`. */
function readAxis(text: string): [name: string, axis: object] {
  const [name] = readPair("--space", text, "fast=5:50:5");
  const values = text.slice(name.length + 1);
  if (/^-?[\d.]+(-|\.\.)[\d.]+$/.test(values)) {
    throw usageError(
      `Cannot use --space ${text}: write from:to:step, as in fast=5:50:5, or values with commas between`,
    );
  }
  if (!values.includes(":")) return [name, { values: values.split(",").map(readValue) }];
  const [min, max, step, ...rest] = values.split(":").map((part) => readNumber("--space", part));
  if (max === undefined || rest.length > 0) {
    throw usageError(`Cannot use --space ${text}: write from:to:step, as in fast=5:50:5`);
  }
  return [name, { min, max, step: step ?? 1 }];
}

function readWindows(text: string): object {
  const [train, test, ...rest] = text.split(":").map((part) => readNumber("--walk-forward", part));
  if (test === undefined || rest.length > 0) {
    throw usageError(
      `Cannot use --walk-forward ${text}: write the days to choose on and the days to test on, as in 365:90`,
    );
  }
  return { train_days: train, test_days: test };
}

/** Waits for the end of an optimization, with a line of progress. @throws CommandError once Ctrl+C is pressed. */
export async function followOptimization(caller: Caller, id: string, output: Output): Promise<Optimization> {
  const line = showProgress(output);
  return await untilInterrupted(async (signal) => {
    try {
      return await calling(caller, lastEvent(caller, { id, signal, onEvent: (record) => line.update(record) }));
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new CommandError(`It goes on: hindcast watch ${id}`, EXIT.interrupted, { code: "INTERRUPTED" });
    } finally {
      line.end();
    }
  });
}

interface Following {
  readonly id: string;
  readonly signal: AbortSignal;
  readonly onEvent: (record: Optimization) => void;
}

function lastEvent({ api }: Caller, { id, signal, onEvent }: Following): Promise<Optimization> {
  return new Promise((resolve, reject) => {
    let last: Optimization | undefined;
    const subscription = api.optimizations.onEvent.subscribe({ id }, {
      onData: (record) => onEvent(last = record),
      onError: reject,
      onComplete: () => last === undefined ? reject(new Error(`Cannot follow ${id}: try again`)) : resolve(last),
    });
    signal.addEventListener("abort", () => {
      reject(signal.reason);
      subscription.unsubscribe();
    });
  });
}

/** Shows an optimization that has ended. @throws CommandError where it has no result. */
export async function showEndedOptimization(
  caller: Caller,
  { id }: { readonly id: string },
  output: Output,
): Promise<void> {
  // As GET answers it, with the tries that its best trial is one of.
  const { optimization } = await calling(caller, caller.api.optimizations.get.query({ id }));
  print(output, { optimization }, output.isJson ? "" : await drawOptimization(caller, optimization, output));
  const { status, error } = optimization;
  if (status === "completed") return;
  const reason = error === null ? "" : `: ${error.message}`;
  const code = error?.code ?? status.toUpperCase();
  throw new CommandError(`The optimization has ${status}${reason}`, EXIT.failed, { code });
}

/** An optimization as a person reads it: its best points, a map over two parameters, and how much of it is luck. */
export async function drawOptimization(caller: Caller, optimization: Optimization, output: Output): Promise<string> {
  const { paint, columns } = output;
  const { id, strategy, start_date: start, end_date: end, status, trials, objective, best, luck, overfitting, tries } =
    optimization;
  const names = Object.keys(best[0]?.parameters ?? {});
  const isScan = optimization.markets !== null;
  const rows = best.map(({ number, market = "", objective: value, parameters }) => [
    String(number),
    ...(isScan ? [market] : []),
    formatMetric(objective, value),
    ...names.map((name) => String(parameters[name])),
  ]);
  const { label } = METRIC_DEFINITIONS[objective];
  const conclusion = luck?.conclusion ?? overfitting?.conclusion;
  const said = [
    ...(conclusion === undefined ? [] : [`How much of it is luck: ${conclusion}`]),
    ...(tries === null || tries === undefined ? [] : [`The best trial among all your tries: ${tries.conclusion}`]),
  ];
  const speed = trials.per_second === null ? "" : `, ${Math.round(trials.per_second)} a second`;
  return [
    `${paint("bold", optimization.name ?? strategy)}  ${describeScan(optimization)}, ${start} to ${end}`,
    `${id}  ${status}, ${trials.done.toLocaleString("en-US")} trials${speed}`,
    ...(rows.length === 0 ? [] : [
      "",
      drawRows(
        [
          " Trial",
          ...(isScan ? [" Market"] : []),
          ` ${label}`,
          ...names.map((name) => ` ${name}`),
        ],
        rows,
        output,
      ),
    ]),
    ...await drawRanking(caller, optimization, output),
    ...await drawSurface(caller, optimization, output),
    ...said.flatMap((text) => ["", ...wrap(text, Math.min(columns, TEXT_COLUMNS))]),
  ].join("\n");
}

function describeScan(optimization: Optimization): string {
  const { markets } = optimization;
  return markets === null ? describeMarkets(optimization) : markets.universe ?? `${markets.count} markets`;
}

/** The best points of a scan by the median over its markets, and its markets by the best of them. */
async function drawRanking(caller: Caller, { id, markets, objective }: Optimization, output: Output) {
  if (markets === null) return [];
  const { ranking } = await calling(caller, caller.api.optimizations.ranking.query({ id, points: RANKED_MAX }));
  const show = (value: number | null) => value === null ? "" : formatMetric(objective, value);
  const names = Object.keys(ranking.points[0]?.parameters ?? {});
  const points = ranking.points.map(({ median, worst, best, earned, parameters }) => [
    ...[show(median), show(worst), show(best), `${Math.round(earned * 100)} %`],
    ...names.map((name) => String(parameters[name])),
  ]);
  const shown = ranking.markets.slice(0, RANKED_MAX).map(({ market, at_best_point: at, own_best: own }) => [
    ...[market, show(at?.value ?? null), show(own?.value ?? null)],
  ]);
  const { label } = METRIC_DEFINITIONS[objective];
  const heads = [" Median", " Worst", " Best", " Earned in", ...names.map((name) => ` ${name}`)];
  return [
    ...["", output.paint("bold", `Points by the median ${label} over ${markets.count} markets`)],
    drawRows(heads, points, output),
    ...["", output.paint("bold", "Markets by the first of these points")],
    drawRows([" Market", " At the point", " Its own best"], shown, output),
  ];
}

/** The objective over the two parameters of a space; nothing where there are more. */
async function drawSurface(caller: Caller, optimization: Optimization, { paint, columns }: Output): Promise<string[]> {
  const [x, y, ...others] = Object.keys(optimization.space);
  if (optimization.status !== "completed" || x === undefined || y === undefined || others.length > 0) return [];
  const { id, objective } = optimization;
  const { surface } = await calling(caller, caller.api.optimizations.surface.query({ id, x, y }));
  const title = `${METRIC_DEFINITIONS[objective].label}, the fuller the higher, red below zero`;
  return ["", paint("bold", title), drawHeatMap(surface, paint, columns)];
}
