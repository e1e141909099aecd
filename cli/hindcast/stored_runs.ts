/** Commands about backtests and optimizations that there are already. */
import type { Backtest, Outputs } from "../../client/index.ts";
import { resolve } from "node:path";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { drawFirstFit, drawRows, formatMetric, MAIN_METRICS } from "../drawing.ts";
import { invocationFolder } from "../invocation.ts";
import { say } from "../terminal.ts";
import { type Caller, calling, collect, unlessMissing } from "./caller.ts";
import { callerFor, type Output, outputFor, print, serviceCommand } from "./command.ts";
import { CommandError, EXIT, usageError } from "../exit_codes.ts";
import { drawOptimization, followOptimization, type Optimization, showEndedOptimization } from "./optimize.ts";
import { readNumber } from "../values.ts";
import { followRun, showEnded } from "./submit_run.ts";
import { drawRun } from "./run_drawing.ts";

type Summary = Outputs["backtests"]["summaries"]["backtests"][number];

const LISTED = 20;
/** The columns of a list: the second shape is for terminals that have no room for the first. */
const LISTS: readonly ListShape[] = [
  {
    head: ["Id", "Created", "Strategy", "Market", "Status", " Return", " Sharpe", " Drawdown", " Trades"],
    spare: ["Created", " Trades", " Drawdown", "Status"],
    describe,
  },
  { head: ["Id", "Run", " Return", " Sharpe"], spare: [], describe: describeShort },
];

interface ListShape {
  readonly head: readonly string[];
  /** Left out first, in this order. */
  readonly spare: readonly string[];
  readonly describe: (run: Summary) => string[];
}

/** `hindcast list`. */
export const listCommand = serviceCommand("list", "List your backtests, the newest first")
  .option("--status <status>", "only runs that are queued, running, completed, failed or cancelled")
  .option("--strategy <name>", "only runs of a strategy, by its name or slug")
  .option("--symbol <symbol>", "only runs of a symbol, as in DEMO")
  .option("--tag <tag>", "only runs with this tag")
  .option("--search <words>", "words in names, notes, tags, strategies and markets")
  .option("--sort <by>", "created, return, sharpe or drawdown: the newest or best first")
  .option("-n, --limit <count>", "the most rows that are listed", String(LISTED))
  .action(async ({ limit, url, json, color, ...filters }) => {
    const caller = callerFor({ url, color });
    const count = readNumber("--limit", limit);
    // The service names what it does not know, and what it does.
    const list = caller.api.backtests.summaries.query;
    const asked: object = filters;
    const { items, next_cursor } = await collect(
      caller,
      count,
      (page) => list({ ...asked, ...page }),
      ({ backtests }) => backtests,
    );
    const output = outputFor({ json, color });
    const text = items.length === 0 ? "No backtests. hindcast run makes one." : drawFirstFit(
      LISTS,
      output.columns,
      (list) => drawRows(list.head, items.map(list.describe), output, list.spare),
    );
    print(output, { backtests: items, next_cursor }, text);
  });

function describe(run: Summary): string[] {
  const { metrics } = run;
  return [
    run.id,
    run.created_at.slice(0, 16).replace("T", " "),
    run.name ?? run.strategy,
    marketOf(run),
    statusOf(run),
    formatMetric("total_return", metrics?.total_return),
    formatMetric("sharpe", metrics?.sharpe),
    formatMetric("max_drawdown", metrics?.max_drawdown),
    formatMetric("trades", metrics?.trades),
  ];
}

/** Strategy and market in one column, and the status where there is no return yet. */
function describeShort(run: Summary): string[] {
  const { metrics } = run;
  return [
    run.id,
    `${run.name ?? run.strategy}, ${marketOf(run)}`,
    metrics === null ? statusOf(run) : formatMetric("total_return", metrics.total_return),
    formatMetric("sharpe", metrics?.sharpe),
  ];
}

function marketOf({ symbol, exchange, timeframe }: Summary): string {
  return `${symbol}@${exchange}${timeframe === null ? "" : ` ${timeframe}`}`;
}

function statusOf({ status, progress }: Summary): string {
  return status === "running" ? `${Math.round(100 * progress)}%` : status;
}

/** `hindcast show`. */
export const showCommand = serviceCommand("show", "Show a backtest or an optimization")
  .argument("[id]", "its id (default: your newest backtest)")
  .action(async (id, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const found = await findRun(caller, id);
    if (found.kind === "optimization") {
      const { optimization } = found;
      const drawing = output.isJson ? "" : await drawOptimization(caller, optimization, output);
      return print(output, { optimization }, drawing);
    }
    const { backtest } = found;
    print(output, { backtest }, output.isJson ? "" : await drawRun(caller, backtest, output));
  });

/** `hindcast watch`. */
export const watchCommand = serviceCommand("watch", "Follow a backtest or an optimization to its end, and show it")
  .argument("[id]", "its id (default: your newest backtest)")
  .action(async (id, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const found = await findRun(caller, id);
    if (found.kind === "optimization") {
      const ended = await followOptimization(caller, found.optimization.id, output);
      return await showEndedOptimization(caller, ended, output);
    }
    await showEnded(caller, await followRun(caller, found.backtest.id, output), output);
  });

/** `hindcast cancel`. */
export const cancelCommand = serviceCommand("cancel", "Cancel backtests and optimizations")
  .argument("<ids...>", "the ids of backtests and optimizations")
  .action(async (ids, options) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    const cancelled: object[] = [];
    for (const id of ids) {
      const { kind } = await findRun(caller, id);
      const { backtests, optimizations } = caller.api;
      const asked = kind === "backtest" ? backtests.cancel.mutate({ id }) : optimizations.cancel.mutate({ id });
      cancelled.push(await calling<object>(caller, asked));
      if (!output.isJson) say(`Cancelled ${id}.`);
    }
    if (output.isJson) print(output, { cancelled }, "");
  });

type Found =
  | { readonly kind: "backtest"; readonly backtest: Backtest }
  | { readonly kind: "optimization"; readonly optimization: Optimization };

/** The id of the newest backtest. @throws CommandError where there is none. */
async function findNewest(caller: Caller): Promise<string> {
  const { backtests: [newest] } = await calling(caller, caller.api.backtests.summaries.query({ limit: 1 }));
  if (newest !== undefined) return newest.id;
  throw new CommandError("You have no backtests", EXIT.failed, { code: "BACKTEST_NOT_FOUND" });
}

/** A run by its id, or the newest backtest. @throws CommandError where there is none. */
async function findRun(caller: Caller, id: string | undefined): Promise<Found> {
  const { backtests, optimizations } = caller.api;
  if (id === undefined) return await findRun(caller, await findNewest(caller));
  const run = await unlessMissing(caller, backtests.get.query({ id }));
  if (run !== null) return { kind: "backtest", ...run };
  const optimization = await unlessMissing(caller, optimizations.get.query({ id }));
  if (optimization !== null) return { kind: "optimization", ...optimization };
  const message = `Cannot find a backtest or an optimization of yours with the id ${id}: hindcast list shows backtests`;
  throw new CommandError(message, EXIT.failed, { code: "BACKTEST_NOT_FOUND" });
}

/** `hindcast compare`. */
export const compareCommand = serviceCommand("compare", "Set two to five completed backtests side by side")
  .argument("<ids...>", "two to five ids, which hindcast list shows")
  .option("--all", "show every metric, not the main ones alone")
  .action(async (ids, { all, ...options }) => {
    const caller = callerFor(options);
    const output = outputFor(options);
    if (ids.length < 2 || ids.length > 5) throw usageError(`Cannot compare ${ids.length}: name two to five backtests`);
    const answer = await calling(caller, caller.api.backtests.compare.query({ ids, points: 2 }));
    print(output, answer, drawComparison(answer, output, all === true));
  });

function drawComparison(
  { backtests, differences, metrics }: Outputs["backtests"]["compare"],
  output: Output,
  isAll: boolean,
): string {
  const names = backtests.map(({ name, strategy }, index) => ` ${index + 1}: ${name ?? strategy}`);
  const differing = differences.map(({ path, values }) => [path, ...values.map((value) => showValue(value))]);
  const shown = metrics.filter(({ name }) => isAll || MAIN_METRICS.some((main) => main === name));
  const figures = shown.filter(({ values }) => values.some((value) => value !== null))
    .map(({ name, values }) => [METRIC_DEFINITIONS[name].label, ...values.map((value) => formatMetric(name, value))]);
  return [
    ...(differing.length === 0 ? ["Their settings are equal."] : [drawRows(["Setting", ...names], differing, output)]),
    drawRows(["Metric", ...names], figures, output),
  ].join("\n");
}

function showValue(value: unknown): string {
  return value === null ? "-" : typeof value === "string" ? value : JSON.stringify(value);
}

const TABLES = ["trades", "orders", "equity", "series", "returns", "log", "report", "trials"] as const;
const FORMATS = ["csv", "json", "arrow"] as const;

/** `hindcast export`. */
export const exportCommand = serviceCommand("export", "Write a table of a run to a file or to standard output")
  .usage("[options] [id] <what>")
  .argument("<id>", "the id of a backtest, or of an optimization for trials (default: your newest backtest)")
  .argument("[what]", TABLES.join(", "))
  .option("-f, --format <format>", FORMATS.join(", "), "csv")
  .option("-o, --output <file>", "the file (default: standard output)")
  .action(async (first, second, { format, output: path, ...options }) => {
    const caller = callerFor(options);
    const pathOf = exportPath(second ?? first, format);
    if (second === undefined && first === "trials") throw usageError("Cannot export trials: name their optimization");
    const answer = await caller.send(pathOf(second === undefined ? await findNewest(caller) : first));
    const body = answer.body ?? new Blob([]).stream();
    if (path === undefined) return await body.pipeTo(Deno.stdout.writable, { preventClose: true });
    const file = await Deno.open(resolve(invocationFolder(), path), { write: true, create: true, truncate: true });
    await body.pipeTo(file.writable);
    say(`Wrote ${path}.`);
  });

/** The path of a table, by the id of its run. */
function exportPath(what: string, format: string): (id: string) => string {
  const table = TABLES.find((known) => known === what);
  if (table === undefined) throw usageError(`Cannot export ${what}: choose one of ${TABLES.join(", ")}`);
  if (!FORMATS.some((known) => known === format)) {
    throw usageError(`Cannot export as ${format}: --format must be one of ${FORMATS.join(", ")}`);
  }
  const kind = table === "trials" ? "optimizations" : "backtests";
  const query = table === "log" || table === "report" ? "" : `?format=${format}`;
  return (id) => `/api/${kind}/${encodeURIComponent(id)}/${table}${query}`;
}
