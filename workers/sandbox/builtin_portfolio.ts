/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { plotsPart } from "../../db/codec/plots_part.ts";
import { lastRows, portfolioParts } from "../../db/codec/portfolio_parts.ts";
import { encodeChunks } from "../../db/codec/result_parts.ts";
import { drawSparkline } from "../../db/codec/sparkline.ts";
import type { BufferPool } from "../../engine/buffer_pool.ts";
import { isAskedToStop } from "../../engine/control.ts";
import type { PortfolioMarket, PortfolioRequest, PortfolioResult } from "../../engine/portfolio/portfolio.ts";
import { summarizePortfolio } from "../../engine/portfolio/portfolio_summary.ts";
import { repeatPortfolio, runPortfolio } from "../../engine/portfolio/run_portfolio.ts";
import type { Finding, Integrity } from "../../engine/result.ts";
import { findBuiltin } from "../../strategies/builtin/catalogue.ts";
import { findPortfolioBuiltin } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { type DecisionPlots, DecisionRecord } from "../../strategies/builtin/portfolio/decision_lines.ts";
import { NOT_BEGUN, type Outcome } from "../common/outcome.ts";
import type { EncodedPortfolio, PortfolioTask } from "../common/protocol.ts";
import { PLOT_VALUES_MAX, PLOTS_MAX } from "./contracts/layout.ts";
import { cutMarket } from "./cut_market.ts";

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
  if (make === null) return { type: "broken", message: `there is no built-in strategy ${task.slug}` };
  const { slug: _slug, parameters: _parameters, positionsMax: _max, rank: _rank, ...settings } = task;
  const requestOf = (markets: readonly PortfolioMarket[], plots?: DecisionPlots): PortfolioRequest => ({
    ...settings,
    markets,
    strategy: make(markets.length, plots),
    control,
    pool,
  });
  // A row for each of its candles at least.
  const longest = Math.max(...task.markets.map(({ candles, firstIndex }) => candles.time.length - firstIndex));
  const record = new DecisionRecord(Math.min(PLOTS_MAX, Math.floor(PLOT_VALUES_MAX / longest)));
  const result = runPortfolio(requestOf(task.markets, record));
  const integrity = checkCut(task, result, (markets) => repeatPortfolio(requestOf(markets)));
  const { metrics, undefinedMetrics, bounds, notes } = result;
  const drawn = drawDecisions(record, result);
  return {
    type: "completed",
    result: { metrics, undefinedMetrics, bounds, notes },
    portfolio: summarizePortfolio(result, task.markets.map(({ id }) => id)),
    marks: result.time.length,
    first: result.time[0]!,
    last: result.time.at(-1)!,
    integrity,
    chunks: [...encodeChunks(drawn === null ? portfolioParts(result) : [...portfolioParts(result), drawn.part])],
    plots: drawn?.plots ?? [],
    sparkline: drawSparkline(result.equity, task.initialBalance),
  };
}

/** The values that a strategy decided by, at the rows of the stored curve; null for a strategy of one market, whose lines follow from its candles. */
function drawDecisions(record: DecisionRecord, { time, instant }: PortfolioResult): ReturnType<typeof plotsPart> {
  const rows = lastRows(time);
  const most = Math.min(PLOTS_MAX, Math.floor(PLOT_VALUES_MAX / rows.length));
  const plots = record.draw(Float64Array.from(rows, (row) => instant[row]!), most);
  const none = new Float64Array(0);
  return plotsPart(plots, { time: Float64Array.from(rows, (row) => time[row]!), low: none, high: none }, true);
}

/** Makes a strategy for all markets, or one for each; null where there is no such built-in strategy. */
export function strategyMaker(
  { slug, parameters, execution, positionsMax, rank }: Pick<
    PortfolioTask,
    "slug" | "parameters" | "execution" | "positionsMax" | "rank"
  >,
): ((markets: number, plots?: DecisionPlots) => PortfolioRequest["strategy"]) | null {
  const portfolio = findPortfolioBuiltin(slug);
  if (portfolio !== undefined) return (_markets, plots) => portfolio.create(parameters, plots);
  const builtin = findBuiltin(slug);
  if (builtin === undefined) return null;
  return (markets) => {
    const strategies = Array.from({ length: markets }, () => builtin.create(parameters, execution));
    return { kind: "each", strategies, positionsMax, rank };
  };
}

/** Simulates the first half again without the candles after it: marks that differ show a look ahead, or chance. */
function checkCut(
  { markets, timeframeMs }: PortfolioTask,
  result: PortfolioResult,
  again: (markets: readonly PortfolioMarket[]) => Float64Array,
): Integrity {
  const half = Math.floor(result.instant.length / 2);
  const until = result.instant[half - 1];
  if (until === undefined) return { lookahead: SKIPPED, determinism: SKIPPED, warm_up: SKIPPED, orders: SKIPPED };
  const cut = again(markets.map((market) => cutMarket(market, until, timeframeMs)));
  const differs = cut.findIndex((equity, row) => row < half && !Object.is(equity, result.equity[row]));
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
