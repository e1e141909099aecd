import { parseArgs } from "node:util";
import { basename } from "node:path";
import { ApiClient, type Backtest, type BacktestRequest } from "./api_client.ts";
import { guessTimeframe } from "./csv_timeframe.ts";
import { drawEquity, drawMetrics, drawProgress, drawTrades } from "./drawing.ts";
import { type Service, startService } from "./service.ts";
import { print, say, stop } from "./terminal.ts";

const USAGE = `Runs a whole backtest on a service of its own and shows what comes out.

  deno task demo [--data FILE.csv] [--timeframe 1d] [--asset-class crypto]

  --data FILE.csv     use these candles instead of the generated sample: a header row with a date or timestamp column
                      and open, high, low, close, volume, oldest first
  --timeframe T       the file's candles: 1m 5m 15m 30m 1h 4h 1d 1w (default: as far apart as its first lines are)
  --asset-class C     forex, crypto or stock (default crypto)
  --help              this text

Everything it makes is in a temporary folder that is removed at the end.`;

const TRADES_SHOWN = 8;
const POLL_MS = 100;
const DAY_MS = 86_400_000;

/** What the demonstration was asked for. */
interface Options {
  readonly data: string | undefined;
  readonly timeframe: string | undefined;
  readonly assetClass: string;
}

/** `deno task demo`. */
async function main(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      data: { type: "string" },
      timeframe: { type: "string" },
      "asset-class": { type: "string", default: "crypto" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return say(USAGE);
  if (values.data !== undefined) await Deno.stat(values.data);
  say("Starting Hindcast in a temporary folder ...");
  const service = await startService();
  try {
    const { data, timeframe, "asset-class": assetClass } = values;
    await demonstrate(service, { data, timeframe, assetClass });
  } finally {
    await service.stop();
  }
}

async function demonstrate(service: Service, options: Options): Promise<void> {
  const api = new ApiClient(service.url);
  say(`It listens on ${service.url}.`);
  await api.signUp("demo@example.com", crypto.randomUUID());
  say("Signed up as demo@example.com.\n\nStrategies:");
  const strategies = await api.listStrategies();
  for (const { slug, description } of strategies) {
    say(`  ${slug.padEnd(20)} ${description.split(/(?<=\.) /).slice(0, 2).join(" ")}`);
  }
  const smaCross = strategies.find((strategy) => strategy.slug === "sma-cross");
  if (smaCross === undefined) throw new Error("Cannot find the strategy sma-cross in the catalogue");

  const request = options.data === undefined
    ? sampleRequest(smaCross.name)
    : await importRequest(api, service.ingestionSecret, smaCross.name, options.data, options);
  say(`\n${request.strategy} on ${request.symbol}, ${request.start_date} to ${request.end_date}:`);
  const backtest = await follow(api, await api.submit(request));
  await show(api, backtest);
  if (options.data === undefined) {
    say("\nThese candles are generated, and kinder to followers of trends than a market is: try your own with --data.");
  }
  say(`
How to go on: \`npx -y deno@2.9.6 task start\` serves the API on http://127.0.0.1:8000 and keeps its data in .data;
the README shows the same backtest with curl and with a typed client.`);
}

function sampleRequest(strategy: string): BacktestRequest {
  return {
    symbol: "DEMO",
    exchange: "SAMPLE",
    strategy,
    start_date: "2024-01-01",
    end_date: "2025-01-01",
    initial_balance: 10_000,
    // Half a day's mean against that of three days, on candles of one minute.
    parameters: { timeframe: "1m", fast: 720, slow: 4320, execution: { commission: 0.0005 } },
  };
}

/** Brings the user's own candles in and asks for all of them. */
async function importRequest(
  api: ApiClient,
  secret: string,
  strategy: string,
  path: string,
  options: Options,
): Promise<BacktestRequest> {
  const timeframe = options.timeframe ?? await guessTimeframe(path);
  const symbol = basename(path).replace(/\.[^.]*$/, "").toUpperCase();
  const query = { symbol, exchange: "IMPORT", assetClass: options.assetClass, timeframe };
  const file = await Deno.open(path);
  const { imported, rejected_count, rejected } = await api.importCsv(query, file.readable, secret);
  say(`\nImported ${imported} candles of ${timeframe} from ${path}, ${rejected_count} lines rejected.`);
  for (const { line, reason } of rejected.slice(0, 5)) say(`  line ${line}: ${reason}`);
  const held = await api.findInstrument(symbol, query.exchange);
  if (held === undefined) throw new Error(`Cannot run a backtest: ${path} held no usable candle`);
  // No range may go beyond today, so that of today's candles none is in it.
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
async function follow(api: ApiClient, submitted: Backtest): Promise<Backtest> {
  let backtest = submitted;
  const terminal = Deno.stdout.isTerminal();
  while (backtest.status === "queued" || backtest.status === "running") {
    if (terminal) print(`\r${drawProgress(backtest.progress)} ${backtest.status} `);
    await new Promise((wake) => setTimeout(wake, POLL_MS));
    backtest = await api.read(submitted.id);
  }
  say(`${terminal ? "\r" : ""}${drawProgress(backtest.progress)} ${backtest.status}`);
  return backtest;
}

async function show(api: ApiClient, backtest: Backtest): Promise<void> {
  const { result, error } = backtest;
  if (result === null) throw new Error(`The backtest has ${backtest.status}: ${error?.message ?? "no reason given"}`);
  const seconds = (result.duration_ms / 1000).toFixed(2);
  say(`${result.data.candles.toLocaleString("en-US")} candles in ${seconds} s\n`);
  say(drawMetrics(result.metrics));
  say("\nEquity");
  say(drawEquity(await api.readEquity(backtest.id, 90)));
  const trades = await api.listTrades(backtest.id);
  say(`\nThe last ${Math.min(TRADES_SHOWN, trades.length)} of ${trades.length} trades`);
  say(drawTrades(trades.slice(-TRADES_SHOWN)));
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
