import { parseArgs } from "node:util";
import { basename, resolve } from "node:path";
import { TIMEFRAME_NAMES } from "../market/timeframes.ts";
import {
  type Api,
  type Backtest,
  type BacktestRequest,
  findHolding,
  importCsv,
  listTrades,
  signUp,
} from "./demo_client.ts";
import { demonstrateOptimization } from "./demo_optimization.ts";
import { makePortfolioRequest, showPortfolio } from "./demo_portfolio.ts";
import { drawEquity, drawMetrics, drawProgress, drawTrades, pointsIn } from "./drawing.ts";
import { type DateOrder, guessSeries, readOrder } from "./guess_series.ts";
import { type Service, startService } from "./service.ts";
import { columnsOf, inColor, type Paint, print, say, showsColor, stop, withoutColor, wrap } from "./terminal.ts";
import { readPair } from "./values.ts";

const USAGE = `Runs a whole backtest on a service of its own and shows the result.

  deno task demo [--strategy SLUG] [-p NAME=VALUE]... [--data FILE] [--timeframe 1d] [--asset-class crypto]
                   [--date-order dmy] [--optimize | --portfolio] [--keep DIR] [--color]

  --strategy SLUG     run this built-in strategy (default: sma-cross)
  -p NAME=VALUE       set a parameter, as often as there are any: -p fast=10 -p timeframe=1h
  --data FILE         use these candles instead of the generated sample: a file of Yahoo, TradingView, MetaTrader,
                      Binance and others as it is, also .gz or .zip, or any with a header row of names
  --timeframe T       the file's candles (default: the distance of its first lines), one of
                      ${TIMEFRAME_NAMES.join(" ")}
  --asset-class C     forex, crypto or stock (default: stock for a file that rests on weekends, else crypto)
  --date-order O      ymd, dmy or mdy, for a file whose dates do not tell
  --optimize          try many parameters, too, and draw the Sharpe ratio over them
  --portfolio         rotate monthly over twelve generated stocks, and draw the weights and what each contributed
  --keep DIR          keep the service's data in this new folder, and print how to see the run in the console
  --color             use colours even if the output is no terminal
  --help              this text

Without --keep, the demonstration writes to a temporary folder and removes it at the end.`;

const HOW_TO_GO_ON = `
How to go on: \`npx -y deno@2.9.6 task start\` serves the console and the API on http://127.0.0.1:8000, with the data
in .data. \`--keep DIR\` keeps this run for the console. README.md shows a backtest with curl and with a typed client.`;

const EMAIL = "demo@example.com";
const STRATEGY_SLUG = "sma-cross";
const SLUG_COLUMNS = 22;
const TEXT_COLUMNS = 84;
const TRADES_SHOWN = 8;
const EQUITY_POINTS = 90;
const POLL_MS = 100;
const DAY_MS = 86_400_000;

/** The files and settings of one demonstration. */
interface Options {
  readonly data: string | undefined;
  readonly timeframe: string | undefined;
  readonly assetClass: string | undefined;
  readonly dateOrder: DateOrder | undefined;
  /** A slug of the catalogue; undefined: sma-cross. */
  readonly strategy?: string | undefined;
  readonly parameters?: Readonly<Record<string, unknown>>;
  /** The folder that keeps the data; undefined where nothing is kept. */
  readonly keep?: string | undefined;
  readonly optimizes?: boolean;
  readonly isPortfolio?: boolean;
  readonly paint: Paint;
}

/** `deno task demo`. */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      strategy: { type: "string" },
      parameter: { type: "string", short: "p", multiple: true, default: [] },
      data: { type: "string" },
      timeframe: { type: "string" },
      "asset-class": { type: "string" },
      "date-order": { type: "string" },
      optimize: { type: "boolean", default: false },
      portfolio: { type: "boolean", default: false },
      keep: { type: "string" },
      color: { type: "boolean", default: showsColor() },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return say(USAGE);
  const parameters = Object.fromEntries(values.parameter.map((text) => readPair("-p", text)));
  checkTogether(values);
  if (values.data !== undefined) await Deno.stat(values.data);
  const keep = values.keep === undefined ? undefined : await makeKeptFolder(values.keep);
  say(`Starting Hindcast in ${keep ?? "a temporary folder"} ...`);
  const service = await startService(keep);
  try {
    const { data, timeframe, "asset-class": assetClass, "date-order": order, color } = values;
    const { optimize: optimizes, portfolio: isPortfolio } = values;
    const paint = color ? inColor : withoutColor;
    const candles = { data, timeframe, assetClass, dateOrder: readOrder(order) };
    const { strategy } = values;
    await demonstrate(service, { ...candles, strategy, parameters, optimizes, isPortfolio, keep, paint });
  } finally {
    await service.stop();
  }
}

/** @throws Error for options that exclude each other. */
function checkTogether({ portfolio, optimize, data, strategy, parameter }: {
  readonly portfolio: boolean;
  readonly optimize: boolean;
  readonly data?: string | undefined;
  readonly strategy?: string | undefined;
  readonly parameter: readonly string[];
}): void {
  const own = strategy !== undefined ? "--strategy" : parameter.length > 0 ? "-p" : null;
  if (optimize && own !== null) throw new Error(`Cannot use --optimize with ${own}: it tries parameters of sma-cross`);
  const other = optimize ? "--optimize" : data !== undefined ? "--data" : own;
  if (portfolio && other !== null) throw new Error(`Cannot use --portfolio with ${other}: it has a run of its own`);
}

/** Runs a backtest on a service and prints it. @param service Of it, the address and the secret are used. */
export async function demonstrate(service: Omit<Service, "stop">, options: Options): Promise<void> {
  const { data, paint } = options;
  say(`It listens on ${service.url}.`);
  const password = crypto.randomUUID();
  const api = await signUp(service.url, EMAIL, password);
  say(`Signed up as ${EMAIL}.`);
  const name = await showStrategies(api, paint, options.strategy ?? STRATEGY_SLUG);
  const made = await makeRequest(api, service, name, options);
  const request = { ...made, parameters: { ...made.parameters, ...options.parameters } };
  const { strategy, symbol, start_date: start, end_date: end } = request;
  const where = options.isPortfolio ? `over its members, beside ${symbol}` : `on ${symbol}`;
  say(`\n${paint("bold", `${strategy} ${where}`)}, ${start} to ${end}:`);
  if (data === undefined) say("These candles are generated, not a market's: try your own with --data.");
  const { backtest } = await api.backtests.create.mutate({ backtest: request });
  await show(api, await follow(api, backtest, paint), paint);
  if (options.optimizes) {
    say(`\n${paint("bold", `The same with other parameters`)}:`);
    await demonstrateOptimization(api, request, paint);
  }
  say(options.keep === undefined ? HOW_TO_GO_ON : describeKept(options.keep, backtest.id, password));
}

/** Makes the folder to keep the data in. @throws Error where it holds something already */
async function makeKeptFolder(path: string): Promise<string> {
  const folder = resolve(path);
  await Deno.mkdir(folder, { recursive: true });
  for await (const { name } of Deno.readDir(folder)) {
    throw new Error(`Cannot keep the demonstration in ${folder}: it holds ${name} already; name a new folder`);
  }
  return folder;
}

function describeKept(folder: string, id: string, password: string): string {
  const quoted = /^[\w./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", `'\\''`)}'`;
  return `
Kept in ${folder}. To see this run in the console:
  DATA_DIR=${quoted} npx -y deno@2.9.6 task start
  http://127.0.0.1:8000/runs/${id}
Sign in as ${EMAIL} with the password ${password}.`;
}

/** Lists the built-in strategies. @returns The name of the one that the demonstration runs. @throws Error where there is none. */
async function showStrategies(api: Api, paint: Paint, wanted: string): Promise<string> {
  const { strategies } = await api.strategies.list.query({ source: "builtin" });
  say("\nStrategies:");
  for (const { slug, description } of strategies) {
    // The first sentence names the kind of strategy, the second its rule.
    const [first = "", ...rest] = wrap(description.split(/(?<=\.) /).slice(0, 2).join(" "), TEXT_COLUMNS);
    say(`  ${paint("cyan", slug.padEnd(SLUG_COLUMNS - 2))} ${first}`);
    for (const line of rest) say(`${" ".repeat(SLUG_COLUMNS)} ${line}`);
  }
  const { strategy } = await api.strategies.get.query({ slug: wanted });
  return strategy.name;
}

function makeRequest(
  api: Api,
  service: Omit<Service, "stop">,
  strategy: string,
  options: Options,
): BacktestRequest | Promise<BacktestRequest> {
  if (options.isPortfolio) return makePortfolioRequest(api);
  if (options.data === undefined) return sampleRequest(strategy, options.strategy === undefined);
  return importRequest(api, service, strategy, options.data, options);
}

/** @param isUsual True for sma-cross with parameters that suit minutes; another strategy has hours and its own. */
function sampleRequest(strategy: string, isUsual: boolean): BacktestRequest {
  const execution = {
    commission: 0.001,
    slippage: { bps: 2 },
    sizing: { type: "equity_fraction", value: 0.25 },
  } as const;
  return {
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy,
    start_date: "2024-01-01",
    end_date: "2025-01-01",
    initial_balance: 10_000,
    // The mean of half a day against that of three days.
    parameters: isUsual
      ? { timeframe: "1m", fast: 720, slow: 4320, direction: "long", execution }
      : { timeframe: "1h", execution },
  };
}

/** Imports the user's candles. @returns A backtest over all of them. */
async function importRequest(
  api: Api,
  { url, ingestionSecret }: Omit<Service, "stop">,
  strategy: string,
  path: string,
  options: Options,
): Promise<BacktestRequest> {
  const guess = await guessSeries(path, options);
  const { timeframe = guess.timeframe, assetClass = guess.restsOnWeekends ? "stock" : "crypto", dateOrder } = options;
  const symbol = basename(path).replace(/\.(gz|zip)$/i, "").replace(/\.[^.]*$/, "").toUpperCase();
  const query = {
    symbol,
    exchange: "IMPORT",
    assetClass,
    timeframe,
    ...(dateOrder === undefined ? {} : { dateOrder }),
  };
  const file = await Deno.open(path);
  const answer = await importCsv(url, ingestionSecret, query, file.readable);
  const { imported, rejected_count, rejected, dialect } = answer;
  say(`\nImported ${imported} candles of ${timeframe} from ${path}, ${rejected_count} lines rejected.`);
  say(`Read as ${assetClass}, dialect ${dialect.name}${answer.convention === null ? "" : `, ${answer.convention}`}.`);
  for (const { line, reason } of rejected.slice(0, 5)) say(`  line ${line}: ${reason}`);
  const held = await findHolding(api, symbol, query.exchange);
  if (held === undefined) throw new Error(`Cannot run a backtest: ${path} held no usable candle`);
  // A range must not end after today, so candles of today are left out.
  const end = Math.min(Date.parse(held.last) + DAY_MS, Date.now());
  return {
    symbol,
    exchange: "IMPORT",
    strategy,
    start_date: held.first.slice(0, 10),
    end_date: new Date(end).toISOString().slice(0, 10),
    initial_balance: 10_000,
    parameters: { timeframe, execution: { commission: 0.0005 } },
  };
}

/** Polls until the backtest has ended, with a bar that moves. */
async function follow(api: Api, submitted: Backtest, paint: Paint): Promise<Backtest> {
  let backtest = submitted;
  const isTerminal = Deno.stdout.isTerminal();
  while (backtest.status === "queued" || backtest.status === "running") {
    if (isTerminal) print(`\r${drawProgress(backtest.progress, paint)} ${backtest.status} `);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    ({ backtest } = await api.backtests.get.query({ id: submitted.id }));
  }
  say(`${isTerminal ? "\r" : ""}${drawProgress(backtest.progress, paint)} ${backtest.status}`);
  return backtest;
}

async function show(api: Api, { id, status, result, error }: Backtest, paint: Paint): Promise<void> {
  if (result === null) throw new Error(`The backtest has ${status}: ${error?.message ?? "no reason given"}`);
  const seconds = (result.duration_ms / 1000).toFixed(2);
  say(`${result.data.candles.toLocaleString("en-US")} candles in ${seconds} s\n`);
  const columns = columnsOf();
  say(drawMetrics(result.metrics, paint, columns));
  const { equity } = await api.backtests.equity.query({ id, points: Math.min(EQUITY_POINTS, pointsIn(columns)) });
  say(`\n${paint("bold", "Equity")}`);
  say(drawEquity(equity, paint));
  if (result.portfolio !== undefined) showPortfolio(result.portfolio, paint);
  const trades = await listTrades(api, id);
  const shown = trades.slice(-TRADES_SHOWN);
  say(`\n${paint("bold", `The last ${shown.length} of ${trades.length} trades`)}`);
  say(drawTrades(shown, paint, columns));
}

if (import.meta.main) {
  try {
    await main(Deno.args);
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}
