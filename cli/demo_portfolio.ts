import { SAMPLE_MEMBERS } from "../market/feeds/sample_stocks.ts";
import type { Api, BacktestRequest, Portfolio } from "./demo_client.ts";
import { drawContributions, drawWeights } from "./portfolio_drawing.ts";
import { columnsOf, type Paint, say } from "./terminal.ts";

const UNIVERSE = "sample-stocks";

/** Makes a universe of the sample's stocks. @returns A rotation over it, which holds the best three of the last half year. */
export async function makePortfolioRequest(api: Api): Promise<BacktestRequest> {
  const members = [...SAMPLE_MEMBERS];
  const { universe } = await api.universes.create.mutate({
    universe: { slug: UNIVERSE, description: "Invented stocks with days of 2022 to 2024", members },
  });
  say(`\nThe universe ${universe.slug}@${universe.latest_version} has ${universe.members} members:`);
  for (const { symbol, from, to } of members) {
    if (from !== undefined) say(`  ${symbol} joins on ${from}`);
    if (to !== undefined) say(`  ${symbol} leaves the market before ${to}`);
  }
  return {
    // Equity is compared with this one.
    symbol: "OAK",
    exchange: "SAMPLE",
    strategy: "Momentum Rotation",
    start_date: "2022-07-01",
    end_date: "2025-01-01",
    initial_balance: 10_000,
    parameters: {
      timeframe: "1d",
      universe: universe.slug,
      top: 3,
      lookback: 126,
      every: "month",
      execution: { commission: 0.001, slippage: { bps: 2 } },
    },
  };
}

/** Prints where the money was, and what came of it. */
export function showPortfolio(portfolio: Portfolio, paint: Paint): void {
  const columns = columnsOf();
  say(`\n${paint("bold", "Weights")}`);
  say(drawWeights(portfolio, paint, columns));
  say(`\n${paint("bold", "Contributions to the profit")}`);
  say(drawContributions(portfolio, paint, columns));
}
