/** Commands that find out more about a backtest. */
import { Option } from "@commander-js/extra-typings";
import { calling } from "./caller.ts";
import { callerFor, outputFor, print, serviceCommand } from "./command.ts";
import { MONTE_CARLOS, STRESS_TESTS } from "./stored_kinds.ts";
import { readNumber } from "../values.ts";

const RUNS = 1_000;

/** `hindcast stress`. */
export const stressCommand = serviceCommand(
  "stress",
  "Say what is left of a backtest with worse costs, days and parameters",
)
  .argument("<id>", "the id of a completed backtest")
  .option("--no-wait", "submit it and return at once")
  .action(async (id, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const answer = await calling(caller, caller.api.stressTests.create.mutate({ id }));
    const made = answer.stress_test;
    if (!options.wait) return print(output, answer, `${made.id} ${made.status}`);
    await STRESS_TESTS.follow(caller, made.id, output);
  });

/** `hindcast monte-carlo`. */
export const monteCarloCommand = serviceCommand(
  "monte-carlo",
  "Say how a backtest might have ended on other paths as likely as its own",
)
  .argument("<id>", "the id of a completed backtest")
  .addOption(
    new Option("--method <method>", "what paths are made of").choices(["trades", "returns", "candles"] as const)
      .default("returns" as const),
  )
  .option("--runs <count>", "how many paths", String(RUNS))
  .option("--block-days <days>", "mean length of a block of returns or candles (default: by the length of the run)")
  .option("--seed <number>", "a number that repeats the draws (default: 1)")
  .option("--no-wait", "submit it and return at once")
  .action(async (id, { method, runs, blockDays, seed, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const given = { block_days: readOptional("--block-days", blockDays), seed: readOptional("--seed", seed) };
    const settings: object = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
    const asked = { backtest_id: id, method, runs: readNumber("--runs", runs), ...settings };
    const answer = await calling(caller, caller.api.monteCarlo.create.mutate({ monte_carlo: asked }));
    const made = answer.monte_carlo;
    if (!options.wait) return print(output, answer, `${made.id} ${made.status}`);
    await MONTE_CARLOS.follow(caller, made.id, output);
  });

function readOptional(option: string, text: string | undefined): number | undefined {
  return text === undefined ? undefined : readNumber(option, text);
}
