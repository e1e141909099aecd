/** The weights of a run over many markets, and the profit of each market so far, as a table. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import type { PortfolioSummary } from "../../engine/result.ts";
import { columnsOf } from "../common/formats.ts";
import type { Page } from "../common/paging.ts";
import { pageRows } from "../common/row_pages.ts";
import type { UserContext } from "../common/trpc.ts";

/** A market at a moment: one with a weight, or whose profit changed since the moment before. */
export const holdingSchema = z.object({
  timestamp: z.iso.datetime().describe("One of the moments of `result.portfolio.weights`."),
  instrument: z.string().describe("`SPY@ARCA`."),
  weight: z.number().describe(
    "Value of the position as a fraction of equity, negative when short; 0 where there is none.",
  ),
  profit: z.number().nullable().describe(
    "What the market has given to the account so far, net of fees, in the account's currency. Null in results from before it was kept.",
  ),
}).meta({ id: "Holding" });

export const HOLDING_COLUMNS = columnsOf(holdingSchema);

type Holding = z.infer<typeof holdingSchema>;

/** Rows of a piece: it takes some milliseconds, in which nobody else is answered. */
const PIECE_ROWS = 2_000;

/**
 * Reads the holdings of a run, by moment and then in the order of its markets; none of a run over one market.
 *
 * @param wanted The market whose rows are wanted, by its place; all of them without it.
 */
export function readHoldings(ctx: UserContext, { result }: Backtest, wanted?: number): AsyncGenerator<Page<Holding>> {
  return pageRows(ctx, listHoldings(result?.portfolio, wanted));
}

async function* listHoldings(portfolio: PortfolioSummary | undefined, wanted?: number): AsyncGenerator<Holding[]> {
  if (portfolio === undefined) return;
  const { contributions, weights: { timestamps, rows: weights }, profits } = portfolio;
  const sofar = new Float64Array(contributions.length);
  let [nextWeight, nextProfit] = [0, 0];
  let piece: Holding[] = [];
  for (const [moment, timestamp] of timestamps.entries()) {
    const held = new Map<number, number>();
    for (; profits?.rows[nextProfit]?.[0] === moment; nextProfit++) {
      const [, market, profit] = profits.rows[nextProfit]!;
      sofar[market] = profit;
      held.set(market, 0);
    }
    for (; weights[nextWeight]?.[0] === moment; nextWeight++) {
      held.set(weights[nextWeight]![1], weights[nextWeight]![2]);
    }
    const sorted = [...held].filter(([market]) => wanted === undefined || market === wanted).sort(([a], [b]) => a - b);
    piece.push(...sorted.map(([market, weight]) => ({
      timestamp,
      instrument: contributions[market]!.instrument,
      weight,
      profit: profits === undefined ? null : sofar[market]!,
    })));
    if (piece.length < PIECE_ROWS) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}
