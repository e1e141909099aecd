import { parseArgs } from "node:util";
import { basename } from "node:path";
import { guessTimeframe } from "./csv_timeframe.ts";
import {
  type Api,
  type Backtest,
  type BacktestRequest,
  findHolding,
  importCsv,
  listTrades,
  signUp,
} from "./demo_client.ts";
import { drawEquity, drawMetrics, drawProgress, drawTrades } from "./drawing.ts";
import { type Service, startService } from "./service.ts";
import { inColor, type Paint, print, say, showsColor, stop, withoutColor, wrap } from "./terminal.ts";

const USAGE = `Runs a whole backtest on a service of its own and shows the result.

  deno task demo [--data FILE.csv] [--timeframe 1d] [--asset-class crypto] [--color]

  --data FILE.csv     use these candles instead of the generated sample: a header row with a date or timestamp column
                      and open, high, low, close, volume, oldest first
  --timeframe T       the file's candles: 1m 5m 15m 30m 1h 4h 1d 1w 1M (default: the distance of its first lines)
  --asset-class C     forex, crypto or stock (default crypto)
  --color             use colours even if the output is no terminal
  --help              this text

The demonstration writes to a temporary folder and removes it at the end.`;

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
  readonly assetClass: string;
  readonly paint: Paint;
}

/** `deno task demo`. */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string" },
      timeframe: { type: "string" },
      "asset-class": { type: "string", default: "crypto" },
      color: { type: "boolean", default: showsColor() },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return say(USAGE);
  if (values.data !== undefined) await Deno.stat(values.data);
  say("Starting Hindcast in a temporary folder ...");
  const service = await startService();
  try {
    const { data, timeframe, "asset-class": assetClass, color } = values;
    await demonstrate(service, { data, timeframe, assetClass, paint: color ? inColor : withoutColor });
  } finally {
    await service.stop();
  }
}

/** Runs a backtest on a service and prints it. @param service Of it, the address and the secret are used. */
export async function demonstrate(service: Omit<Service, "stop">, options: Options): Promise<void> {
  const { data, paint } = options;
  say(`It listens on ${service.url}.`);
  const api = await signUp(service.url, "demo@example.com", crypto.randomUUID());
  say("Signed up as demo@example.com.");
  const name = await showStrategies(api, paint);
  const request = data === undefined ? sampleRequest(name) : await importRequest(api, service, name, data, options);
  const { strategy, symbol, start_date: start, end_date: end } = request;
  say(`\n${paint("bold", `${strategy} on ${symbol}`)}, ${start} to ${end}:`);
  const { backtest } = await api.backtests.create.mutate({ backtest: request });
  await show(api, await follow(api, backtest, paint), paint);
  if (data === undefined) {
    say("\nThese candles are generated, and kinder to followers of trends than a market is: try your own with --data.");
  }
  say(`
How to go on: \`npx -y deno@2.9.6 task start\` serves the API on http://127.0.0.1:8000 and keeps its data in .data.
README.md shows a backtest with curl and with a typed client.`);
}

/** Lists the built-in strategies. @returns The name of the one that the demonstration runs. */
async function showStrategies(api: Api, paint: Paint): Promise<string> {
  const { strategies } = await api.strategies.list.query({ source: "builtin" });
  say("\nStrategies:");
  for (const { slug, description } of strategies) {
    // The first sentence names the kind of strategy, the second its rule.
    const [first = "", ...rest] = wrap(description.split(/(?<=\.) /).slice(0, 2).join(" "), TEXT_COLUMNS);
    say(`  ${paint("cyan", slug.padEnd(SLUG_COLUMNS - 2))} ${first}`);
    for (const line of rest) say(`${" ".repeat(SLUG_COLUMNS)} ${line}`);
  }
  const chosen = strategies.find(({ slug }) => slug === STRATEGY_SLUG);
  if (chosen === undefined) throw new Error(`Cannot find the strategy ${STRATEGY_SLUG} in the catalogue`);
  return chosen.name;
}

function sampleRequest(strategy: string): BacktestRequest {
  return {
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy,
    start_date: "2024-01-01",
    end_date: "2025-01-01",
    initial_balance: 10_000,
    parameters: {
      timeframe: "1m",
      // The mean of half a day against that of three days.
      fast: 720,
      slow: 4320,
      direction: "long",
      execution: { commission: 0.001, slippage: { bps: 2 }, sizing: { type: "equity_fraction", value: 0.25 } },
    },
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
  const timeframe = options.timeframe ?? await guessTimeframe(path);
  const symbol = basename(path).replace(/\.[^.]*$/, "").toUpperCase();
  const query = { symbol, exchange: "IMPORT", assetClass: options.assetClass, timeframe };
  const file = await Deno.open(path);
  const { imported, rejected_count, rejected } = await importCsv(url, ingestionSecret, query, file.readable);
  say(`\nImported ${imported} candles of ${timeframe} from ${path}, ${rejected_count} lines rejected.`);
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
  say(drawMetrics(result.metrics, paint));
  const { equity } = await api.backtests.equity.query({ id, points: EQUITY_POINTS });
  say(`\n${paint("bold", "Equity")}`);
  say(drawEquity(equity, paint));
  const trades = await listTrades(api, id);
  const shown = trades.slice(-TRADES_SHOWN);
  say(`\n${paint("bold", `The last ${shown.length} of ${trades.length} trades`)}`);
  say(drawTrades(shown, paint));
}

if (import.meta.main) {
  try {
    await main(Deno.args);
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}
