/** Commands about runs that there are already. */
import type { Outputs } from "../../client/index.ts";
import { Option } from "@commander-js/extra-typings";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { drawRows, formatMetric, MAIN_METRICS, NONE } from "../drawing.ts";
import { say } from "../terminal.ts";
import { type Caller, calling } from "./caller.ts";
import { callerFor, type Output, outputFor, print, serviceCommand } from "./command.ts";
import { usageError } from "../exit_codes.ts";
import { readNumber } from "../values.ts";
import type { FoundRun } from "./run_kind.ts";
import { BACKTESTS, findRun, KIND_NAMES, kindOf, showValue } from "./stored_kinds.ts";

const LISTED = 20;

function kindOption(does: string) {
  return new Option("--kind <kind>", does).choices(KIND_NAMES).default(BACKTESTS.name);
}

/** `hindcast list`. */
export const listCommand = serviceCommand("list", "List your runs, the newest first")
  .addOption(kindOption("which runs"))
  .option("--status <status>", "only runs that are queued, running, completed, failed or cancelled")
  .option("--strategy <name>", "only backtests of a strategy, by its name or slug")
  .option("--symbol <symbol>", "only backtests of a symbol, as in DEMO")
  .option("--tag <tag>", "only backtests with this tag")
  .option("--search <words>", "backtests with these words in names, notes, tags, strategies and markets")
  .option("--sort <by>", "backtests by created, return, sharpe or drawdown: the newest or best first")
  .option("--backtest <id>", "only simulations or stress tests of this backtest")
  .option("-n, --limit <count>", "the most rows that are listed", String(LISTED))
  .action(async ({ kind: name, limit, url, json, color, ...given }) => {
    const kind = kindOf(name);
    const filters = Object.entries(given).map(([option, value]) => {
      const field = kind.filters[option];
      if (field !== undefined) return [field, value];
      const known = Object.keys(kind.filters).map((each) => `--${each}`).join(", ");
      throw usageError(`Cannot use --${option} with --kind ${name}, which takes ${known}`);
    });
    const count = readNumber("--limit", limit);
    // The service names what it does not know, and what it does.
    const asked: object = Object.fromEntries(filters);
    await kind.list(callerFor({ url, color }), count, asked, outputFor({ json, color }));
  });

/** `hindcast show`. */
export const showCommand = serviceCommand("show", "Show a run of any kind")
  .argument("[id]", "its id (default: the newest of the kind)")
  .addOption(kindOption("of which kind the newest is shown without an id"))
  .action(async (id, { kind, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const { answer, draw } = await findRun(caller, id ?? await kindOf(kind).findNewest(caller));
    print(output, answer, output.isJson ? "" : await draw(output));
  });

/** `hindcast watch`. */
export const watchCommand = serviceCommand("watch", "Follow a run of any kind to its end, and show it")
  .argument("[id]", "its id (default: the newest of the kind)")
  .addOption(kindOption("of which kind the newest is followed without an id"))
  .action(async (id, { kind: name, ...options }) => {
    const caller = callerFor(options);
    const { kind, id: found } = await findRun(caller, id ?? await kindOf(name).findNewest(caller));
    await kind.follow(caller, found, outputFor(options));
  });

/** `hindcast cancel`. */
export const cancelCommand = serviceCommand("cancel", "Cancel runs of any kind")
  .argument("<ids...>", "the ids of the runs")
  .action(async (ids, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const cancelled: object[] = [];
    for (const id of ids) {
      const { kind } = await findRun(caller, id);
      cancelled.push(await kind.cancel(caller, id));
      if (!output.isJson) say(`Cancelled ${id}.`);
    }
    if (output.isJson) print(output, { cancelled }, "");
  });

/** `hindcast compare`. */
export const compareCommand = serviceCommand("compare", "Set two to five runs of one kind side by side")
  .argument("<ids...>", "two to five ids, which hindcast list shows; backtests must be completed")
  .option("--all", "show every metric of backtests, not the main ones alone")
  .action(async (ids, { all, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    if (ids.length < 2 || ids.length > 5) throw usageError(`Cannot compare ${ids.length}: name two to five runs`);
    const [first, ...others] = await findEach(caller, ids);
    const other = others.find(({ kind }) => kind !== first.kind);
    if (other !== undefined) {
      throw usageError(
        `Cannot compare the ${first.kind.noun} ${first.id} with the ${other.kind.noun} ${other.id}: name runs of one kind`,
      );
    }
    if (first.kind !== BACKTESTS) {
      const runs = [first, ...others];
      return print(output, { compared: runs.map(({ answer }) => answer) }, drawRuns(runs, output));
    }
    const answer = await calling(caller, caller.api.backtests.compare.query({ ids, points: 2 }));
    print(output, answer, drawComparison(answer, output, all === true));
  });

async function findEach(caller: Caller, [id = "", ...others]: readonly string[]): Promise<[FoundRun, ...FoundRun[]]> {
  const first = await findRun(caller, id);
  const rest: FoundRun[] = [];
  for (const other of others) rest.push(await findRun(caller, other));
  return [first, ...rest];
}

/** Runs of a kind that the service does not compare. */
function drawRuns(runs: readonly FoundRun[], output: Output): string {
  const names = runs.map(({ id }, index) => ` ${index + 1}: ${id}`);
  const rowsOf = (part: "settings" | "figures") => {
    const labels = [...new Set(runs.flatMap((run) => run[part].map(([name]) => name)))];
    return labels.map((
      label,
    ) => [label, ...runs.map((run) => run[part].find(([name]) => name === label)?.[1] ?? NONE)]);
  };
  const differing = rowsOf("settings").filter(([, ...texts]) => new Set(texts).size > 1);
  return [
    ...(differing.length === 0 ? ["Their settings are equal."] : [drawRows(["Setting", ...names], differing, output)]),
    drawRows(["Figure", ...names], rowsOf("figures"), output),
  ].join("\n");
}

function drawComparison(
  { backtests, differences, metrics }: Outputs["backtests"]["compare"],
  output: Output,
  isAll: boolean,
): string {
  const names = backtests.map(({ name, default_name }, index) => ` ${index + 1}: ${name ?? default_name}`);
  const differing = differences.map(({ path, values }) => [path, ...values.map((value) => showValue(value))]);
  const shown = metrics.filter(({ name }) => isAll || MAIN_METRICS.some((main) => main === name));
  const figures = shown.filter(({ values }) => values.some((value) => value !== null))
    .map(({ name, values }) => [METRIC_DEFINITIONS[name].label, ...values.map((value) => formatMetric(name, value))]);
  return [
    ...(differing.length === 0 ? ["Their settings are equal."] : [drawRows(["Setting", ...names], differing, output)]),
    drawRows(["Metric", ...names], figures, output),
  ].join("\n");
}
