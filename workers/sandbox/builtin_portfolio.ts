/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { encodeChunks, equityPart, ordersPart, type PartColumns, tradesPart } from "../../db/codec/result_parts.ts";
import { drawSparkline } from "../../db/codec/sparkline.ts";
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { isAskedToStop } from "../../engine/control.ts";
import { candleClose } from "../../engine/durations.ts";
import type { PortfolioMarket, PortfolioRequest, PortfolioResult } from "../../engine/portfolio/portfolio.ts";
import { summarizePortfolio } from "../../engine/portfolio/portfolio_summary.ts";
import { runPortfolio } from "../../engine/portfolio/run_portfolio.ts";
import type { Finding, Integrity } from "../../engine/result.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { EncodedPortfolio, PortfolioTask } from "../common/protocol.ts";

const SKIPPED: Finding = { status: "skipped", evidence: "Built-in strategies see no candle before it has closed" };

/** Runs a built-in strategy over many markets with one account, and encodes the result. */
export function runBuiltinPortfolio(
  task: PortfolioTask,
  control: Int32Array,
  pool: BufferPool,
): Outcome<EncodedPortfolio> {
  // The stop may have come before this message.
  if (isAskedToStop(control)) return NOT_BEGUN;
  const make = strategyMaker(task);
  if (make === undefined) return { type: "broken", message: `there is no built-in strategy ${task.slug}` };
  const { slug: _slug, parameters: _parameters, positionsMax: _max, rank: _rank, ...settings } = task;
  const simulate = (markets: readonly PortfolioMarket[], watch: Int32Array | null) =>
    runPortfolio({ ...settings, markets, strategy: make(markets.length), control: watch, pool });
  const result = simulate(task.markets, control);
  const integrity = checkCut(task, result, (markets) => simulate(markets, control));
  const { metrics, undefinedMetrics, bounds, notes } = result;
  return {
    type: "completed",
    result: { metrics, undefinedMetrics, bounds, notes },
    portfolio: summarizePortfolio(result, task.markets.map(({ id }) => id)),
    marks: result.time.length,
    first: result.time[0]!,
    last: result.time.at(-1)!,
    integrity,
    chunks: [...encodeChunks(partsOf(result))],
    sparkline: drawSparkline(result.equity, task.initialBalance),
  };
}

/** Makes a strategy for all markets, or one for each; undefined where there is no such built-in strategy. */
function strategyMaker(
  { slug, parameters, execution, positionsMax, rank }: PortfolioTask,
): ((markets: number) => PortfolioRequest["strategy"]) | undefined {
  const portfolio = findPortfolioBuiltin(slug);
  if (portfolio !== undefined) return () => portfolio.create(parameters);
  const builtin = findBuiltin(slug);
  if (builtin === undefined) return undefined;
  return (markets) => {
    const strategies = Array.from({ length: markets }, () => builtin.create(parameters, execution));
    return { kind: "each", strategies, positionsMax, rank };
  };
}

/** Simulates the first half again without the candles after it: marks that differ show a look ahead, or chance. */
function checkCut(
  { markets, timeframeMs }: PortfolioTask,
  result: PortfolioResult,
  again: (markets: readonly PortfolioMarket[]) => PortfolioResult,
): Integrity {
  const half = Math.floor(result.instant.length / 2);
  const until = result.instant[half - 1];
  if (until === undefined) return { lookahead: SKIPPED, determinism: SKIPPED, warm_up: SKIPPED, orders: SKIPPED };
  const cut = again(markets.map((market) => cutMarket(market, until, timeframeMs)));
  const differs = cut.equity.findIndex((equity, row) => row < half && !Object.is(equity, result.equity[row]));
  const told: Finding = differs < 0
    ? { status: "passed", evidence: `${half} marks are the same without the candles after them` }
    : { status: "failed", evidence: `Equity at mark ${differs + 1} changes with candles after mark ${half}` };
  const refused = result.metrics.rejected_orders ?? 0;
  const orders: Finding = {
    status: "passed",
    evidence: refused === 0 ? "No order was refused" : `${refused} orders were refused; the list of orders says why`,
  };
  return { lookahead: told, determinism: told, warm_up: SKIPPED, orders };
}

/** A market with the candles that have closed by an instant; the last of them does not end its trade. */
function cutMarket(market: PortfolioMarket, until: number, timeframeMs: number | null): PortfolioMarket {
  const { candles, hours = null, firstIndex } = market;
  let count = 0;
  while (count < candles.time.length && closeOf(count) <= until) count++;
  function closeOf(i: number): number {
    return hours === null ? candleClose(candles.time[i]!, timeframeMs) : hours.closes[i]!;
  }
  const { time, open, high, low, close, volume } = candles;
  return {
    ...market,
    candles: {
      time: time.subarray(0, count),
      open: open.subarray(0, count),
      high: high.subarray(0, count),
      low: low.subarray(0, count),
      close: close.subarray(0, count),
      volume: volume.subarray(0, count),
    },
    hours: hours && { opens: hours.opens.subarray(0, count), closes: hours.closes.subarray(0, count) },
    firstIndex: Math.min(firstIndex, count),
    isDelisted: market.isDelisted === true && count === time.length,
  };
}

/** The result's columns; each trade and each order has the row of its market. */
function partsOf(result: PortfolioResult): PartColumns[] {
  const withMarket = (part: PartColumns, market: Uint16Array): PartColumns => ({
    ...part,
    columns: { ...part.columns, market: Int32Array.from(market.subarray(0, part.count)) },
  });
  const curve = lastOfEachTime(result);
  return [
    withMarket(tradesPart(result.trades), result.trades.market),
    withMarket(ordersPart(result.orders), result.orders.market),
    equityPart(curve),
  ];
}

/** The curve, with net exposure as its position. Candles that open together may close at different times: the last mark counts. */
function lastOfEachTime({ time, equity, netExposure }: PortfolioResult) {
  const kept = [...time.keys()].filter((row) => row === time.length - 1 || time[row]! < time[row + 1]!);
  const pick = (values: Float64Array) => Float64Array.from(kept, (row) => values[row]!);
  return { time: pick(time), equity: pick(equity), position: pick(netExposure) };
}
