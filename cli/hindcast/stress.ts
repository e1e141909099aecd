import type { Outputs } from "../../client/index.ts";
import { drawRows, formatMetric } from "../drawing.ts";
import { wrap } from "../terminal.ts";
import { type Caller, calling } from "./caller.ts";
import { callerFor, type Output, outputFor, print, serviceCommand } from "./command.ts";
import { CommandError, EXIT } from "../exit_codes.ts";
import { showProgress } from "./progress.ts";

type StressTest = Outputs["stressTests"]["get"]["stress_test"];
type Row = NonNullable<StressTest["result"]>["rows"][number];

// The service's limit.
const WAIT_SECONDS = 20;

/** `hindcast stress`. */
export const stressCommand = serviceCommand(
  "stress",
  "Say what is left of a backtest with worse costs, days and parameters",
)
  .argument("<id>", "the id of a completed backtest")
  .action(async (id, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const made = await calling(caller, caller.api.stressTests.create.mutate({ id }));
    const stress_test = await follow(caller, made.stress_test, output);
    print(output, { stress_test }, drawStressTest(stress_test, output));
    const { status, error } = stress_test;
    if (status === "completed") return;
    const reason = error === null ? "" : `: ${error.message}`;
    throw new CommandError(`The stress test has ${status}${reason}`, EXIT.failed, {
      code: error?.code ?? status.toUpperCase(),
    });
  });

async function follow(caller: Caller, submitted: StressTest, output: Output): Promise<StressTest> {
  const line = showProgress(output);
  let stress_test = submitted;
  try {
    while (stress_test.status === "queued" || stress_test.status === "running") {
      line.update(stress_test);
      const asked = { id: submitted.id, wait: WAIT_SECONDS };
      ({ stress_test } = await calling(caller, caller.api.stressTests.get.query(asked)));
    }
    return stress_test;
  } finally {
    line.end();
  }
}

function drawStressTest({ result }: StressTest, { paint, columns }: Output): string {
  if (result === null) return "";
  const { rows, regimes, break_even_cost: even, notes } = result;
  const drawn = rows.map(({ name, figures, error }) => [name, ...drawFigures(figures, error?.message)]);
  const parts = regimes.map(({ name, figures, days }) => [`${name} (${days} days)`, ...drawFigures(figures)]);
  const head = [" Net return", " Sharpe", " Drawdown", " Trades"];
  const cost = even === null
    ? "It has no profit that a commission could use up."
    : `A commission of ${(100 * even).toFixed(3)} % beside its own costs uses its profit up.`;
  return [
    drawRows(["Change", ...head], drawn, { paint, columns }),
    drawRows(["Days", ...head], parts, { paint, columns }),
    cost,
    ...notes.flatMap((note) => wrap(note, columns)),
  ].join("\n");
}

function drawFigures(figures: Row["figures"], failure = "-"): string[] {
  if (figures === null) return [failure, "-", "-", "-"];
  return [
    formatMetric("total_return", figures.total_return),
    formatMetric("sharpe", figures.sharpe),
    formatMetric("max_drawdown", figures.max_drawdown),
    formatMetric("trades", figures.trades),
  ];
}
