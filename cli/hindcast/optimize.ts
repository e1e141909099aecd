import type { BacktestRequest } from "../../client/index.ts";
import { type Caller, calling } from "./caller.ts";
import { callerFor, outputFor, print } from "./command.ts";
import { CommandError, usageError } from "../exit_codes.ts";
import { questionCommand, readQuestionOf } from "./question.ts";
import { OPTIMIZATIONS } from "./stored_kinds.ts";
import { readNumber, readPair, readValue } from "../values.ts";

/** `hindcast optimize`. */
export const optimizeCommand = questionCommand(
  "optimize",
  "Try many parameters, and say how much of the best is luck",
  "of several, with commas between, each is tried alone; a strategy that decides on many has one account over them",
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
    const answer = await submit(caller, question, readSettings(options));
    const { id, status } = answer.optimization;
    if (!options.wait) return print(output, answer, `${id} ${status}`);
    await OPTIMIZATIONS.follow(caller, id, output);
  });

/**
 * Several markets, or those of a universe, are tried each alone, unless settings of one account over them are given. A
 * strategy that decides on many has one account, too, and only the service knows which do: it refuses to scan for one.
 */
async function submit(caller: Caller, question: BacktestRequest, settings: object) {
  const create = (asked: object) =>
    calling(caller, caller.api.optimizations.create.mutate({ optimization: { ...question, ...settings, ...asked } }));
  const { instruments, universe, ...parameters } = question.parameters ?? {};
  const isAlone = instruments === undefined && universe === undefined;
  const { portfolio, execution } = parameters;
  if (isAlone || portfolio !== undefined || Object(execution).baseCurrency !== undefined) return await create({});
  try {
    return await create({ parameters, markets: universe === undefined ? { instruments } : { universe } });
  } catch (error) {
    if (error instanceof CommandError && decidesOnMany(error)) return await create({});
    throw error;
  }
}

/** True for the service's refusal to try a strategy in markets one by one. */
function decidesOnMany({ details }: CommandError): boolean {
  const { code, issues } = details;
  return code === "INVALID_PARAMETERS" && Array.isArray(issues) && issues[0]?.path === "/optimization/strategy";
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
