/** A result of foreign code over many markets, as it is stored: bytes that its process encodes could be anything. */
import { plotsPart } from "../../db/codec/plots_part.ts";
import { lastRows, portfolioParts } from "../../db/codec/portfolio_parts.ts";
import { drawSparkline } from "../../db/codec/sparkline.ts";
import { encodeParts } from "../../db/result_chunks.ts";
import { findTimeline } from "../../engine/portfolio/timeline.ts";
import { summarizePortfolio } from "../../engine/portfolio/portfolio_summary.ts";
import type { PortfolioSummary } from "../../engine/result.ts";
import type { Outcome } from "../common/outcome.ts";
import type { EncodedPortfolio, EncodedSeries, MarketPlot, MarketsTask, SimulatedMarkets } from "../common/protocol.ts";
import { traceStep } from "../common/telemetry.ts";

/** Encodes the value of a run, and the plots of one that failed; other outcomes are unchanged. */
export async function encodeMarkets(
  outcome: Outcome<SimulatedMarkets>,
  task: MarketsTask,
): Promise<Outcome<EncodedPortfolio>> {
  if (outcome.type === "failed" && outcome.marketPlots !== undefined) {
    const { marketPlots, ...failed } = outcome;
    const { time } = findTimeline(task.markets, task.timeframeMs);
    return { ...failed, series: await encodePlots(marketPlots, time, task, false) };
  }
  if (outcome.type !== "completed") return outcome;
  const { result, integrity, log = [], plots = [] } = outcome;
  const { metrics, undefinedMetrics, bounds, notes, time, equity } = result;
  return await traceStep("encode", async () => {
    const chunks = await encodeParts(portfolioParts(result));
    const series = await encodePlots(plots, time, task, true);
    return {
      type: "completed",
      result: { metrics, undefinedMetrics, bounds, notes },
      portfolio: summarize(result, task),
      marks: time.length,
      first: time[0]!,
      last: time.at(-1)!,
      integrity,
      log,
      chunks: [...chunks, ...series.chunks],
      plots: series.plots,
      sparkline: drawSparkline(equity, task.initialBalance),
    };
  });
}

function summarize(result: SimulatedMarkets["result"], { markets }: MarketsTask): PortfolioSummary {
  return summarizePortfolio(result, markets.map(({ id }) => id));
}

/** Encodes plots by the rows of the stored curve. Names and panes of many markets begin with the market's. */
async function encodePlots(
  plots: readonly MarketPlot[],
  time: Float64Array,
  { markets }: MarketsTask,
  isWhole: boolean,
): Promise<EncodedSeries> {
  const rows = lastRows(time);
  const named = plots.map(({ market, name, pane, values }) => {
    const picked = pickLast(values, rows);
    if (markets.length === 1) return { name, pane, values: picked };
    if (market === null) return { name, pane: pane ?? name, values: picked };
    const { id } = markets[market]!;
    return { name: `${id} ${name}`, pane: `${id} ${pane ?? name}`, values: picked };
  });
  const [only] = markets;
  const { candles: { low, high }, firstIndex } = only!;
  const prices = { time: Float64Array.from(rows, (row) => time[row]!), low: low.subarray(firstIndex) };
  const made = plotsPart(named, { ...prices, high: high.subarray(firstIndex) }, isWhole);
  return made === null ? { plots: [], chunks: [] } : { plots: made.plots, chunks: await encodeParts([made.part]) };
}

/** The last value that is none of NaN among the rows of each stored one. */
function pickLast(values: Float64Array, rows: Int32Array): Float64Array {
  let row = -1;
  return Float64Array.from(rows, (end) => {
    let last = NaN;
    while (row < end) {
      const value = values[++row]!;
      if (!Number.isNaN(value)) last = value;
    }
    return last;
  });
}
