import { questionCommand, readQuestionOf } from "./question.ts";
import { calling } from "./caller.ts";
import { callerFor, outputFor, print } from "./command.ts";
import { BACKTESTS } from "./stored_kinds.ts";

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
    await BACKTESTS.follow(caller, backtest.id, output);
  });
