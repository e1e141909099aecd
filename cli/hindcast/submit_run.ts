import type { Backtest } from "../../client/index.ts";
import { questionCommand, readQuestionOf } from "./question.ts";
import { type Caller, calling } from "./caller.ts";
import { callerFor, type Output, outputFor, print } from "./command.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { showProgress, untilInterrupted } from "./progress.ts";
import { drawRun } from "./run_drawing.ts";

/** `hindcast run`. */
export const runCommand = questionCommand(
  "run",
  "Run a backtest, follow it and show its result",
  "several, with commas between, share one account",
)
  .option("--name <name>", "a name for the run")
  .option("--tag <tag...>", "tags for the run, as in --tag draft")
  .option("--fresh", "simulate it even if an equal result is stored")
  .option("--no-wait", "submit it and return at once")
  .action(async (strategy, markets, from, to, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const question = await readQuestionOf([strategy, markets, from, to], options);
    const { name, tag: tags, fresh } = options;
    const labels = Object.fromEntries(Object.entries({ name, tags, fresh }).filter(([, value]) => value !== undefined));
    const { backtest } = await calling(
      caller,
      caller.api.backtests.create.mutate({ backtest: { ...question, ...labels } }),
    );
    if (!options.wait) return print(output, { backtest }, `${backtest.id} ${backtest.status}`);
    await showEnded(caller, await followRun(caller, backtest.id, output), output);
  });

/** Waits for the end of a backtest, with a line of progress. @throws CommandError once Ctrl+C is pressed. */
export async function followRun(caller: Caller, id: string, output: Output): Promise<Backtest> {
  const line = showProgress(output);
  return await untilInterrupted(async (signal) => {
    try {
      const onProgress = (backtest: Backtest) => line.update(backtest);
      return await calling(caller, caller.waitFor({ id }, { signal, onProgress }));
    } catch (error) {
      if (!signal.aborted) throw error;
      throw new CommandError(`The run goes on: hindcast watch ${id}`, EXIT.interrupted, { code: "INTERRUPTED" });
    } finally {
      line.end();
    }
  });
}

/** Shows a backtest that has ended. @throws CommandError where it has no result. */
export async function showEnded(caller: Caller, { id }: { readonly id: string }, output: Output): Promise<void> {
  // As GET answers it, with the tries that it is one of.
  const { backtest } = await calling(caller, caller.api.backtests.get.query({ id }));
  print(output, { backtest }, output.isJson ? "" : await drawRun(caller, backtest, output));
  if (backtest.status === "completed") return;
  const reason = backtest.error === null ? "" : `: ${backtest.error.message}`;
  throw new CommandError(`The backtest has ${backtest.status}${reason}`, EXIT.failed, {
    code: backtest.error?.code ?? backtest.status.toUpperCase(),
  });
}
