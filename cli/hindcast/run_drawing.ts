import type { Backtest } from "../../client/index.ts";
import { drawEquity, drawMetrics, drawTrades, pointsIn } from "../drawing.ts";
import { wrap } from "../terminal.ts";
import { type Caller, calling } from "./caller.ts";
import type { Output } from "./command.ts";

const TRADES_SHOWN = 8;
const EQUITY_POINTS = 90;
const TEXT_COLUMNS = 100;

/** A run as a person reads it: its settings, figures, curve, last trades, and what to beware of. */
export async function drawRun(caller: Caller, backtest: Backtest, { paint, columns }: Output): Promise<string> {
  const { id, result } = backtest;
  const head = `${paint("bold", backtest.name ?? backtest.strategy)}  ${
    describeMarkets(backtest)
  }, ${backtest.start_date} to ${backtest.end_date}`;
  if (result === null) return `${head}\n${id}  ${backtest.status}`;
  const { equity: curve, trades: list } = caller.api.backtests;
  const [{ equity }, { trades }] = await calling(
    caller,
    Promise.all([
      curve.query({ id, points: Math.min(EQUITY_POINTS, pointsIn(columns)) }),
      list.query({ id, limit: TRADES_SHOWN }),
    ]),
  );
  const warnings = [...describeIntegrity(backtest), ...describeTries(backtest), ...result.notes];
  return [
    head,
    `${id}  ${result.data.candles.toLocaleString("en-US")} candles in ${(result.duration_ms / 1000).toFixed(2)} s`,
    "",
    drawMetrics(result.metrics, paint, columns),
    "",
    paint("bold", "Equity"),
    drawEquity(equity, paint),
    ...(trades.length === 0 ? [] : [
      "",
      paint("bold", describeCount(trades.length, result.metrics.trades ?? 0)),
      drawTrades(trades, paint, columns),
    ]),
    ...(warnings.length === 0 ? [] : ["", ...warnings.flatMap((line) => wrap(line, Math.min(columns, TEXT_COLUMNS)))]),
  ].join("\n");
}

/** Open trades are shown, and are not among those that are counted. */
function describeCount(shown: number, ended: number): string {
  return shown < ended ? `The first ${shown} of ${ended.toLocaleString("en-US")} trades` : "Trades";
}

/** The market of a run, or how many they are. */
export function describeMarkets(
  { symbol, exchange, parameters }: Pick<Backtest, "symbol" | "exchange" | "parameters">,
) {
  const { instruments, universe, timeframe } = parameters;
  const at = typeof timeframe === "string" ? ` ${timeframe}` : "";
  if (typeof universe === "string") return `universe ${universe}${at}`;
  if (Array.isArray(instruments)) return `${instruments.length} markets${at}`;
  return `${symbol}@${exchange}${at}`;
}

function describeIntegrity({ result }: Backtest): string[] {
  return Object.entries(result?.integrity ?? {}).filter(([, { status }]) => status === "failed")
    .map(([name, { evidence }]) => `The check ${name} failed: ${evidence}`);
}

function describeTries({ trials }: Backtest): string[] {
  return trials === null || trials === undefined ? [] : [trials.conclusion];
}
