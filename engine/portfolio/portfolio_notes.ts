import { noteRuin, noteUnreachable, noteUnreplayed } from "../result_notes.ts";
import { DAY_MS } from "../time/durations.ts";
import type { PortfolioRequest } from "./portfolio.ts";
import type { PortfolioSimulation } from "./portfolio_simulation.ts";
import type { Seat } from "./seat.ts";

/** Longer stretches without a candle are noted, in days with a mark. */
const GAP_DAYS_MAX = 10;
/** Most instruments that notes of one kind name. */
const NAMED_MAX = 10;

/** Notes for the reader of the result, in words. @param dates The date of each row's day. */
export function describePortfolio(
  { initialBalance, execution }: PortfolioRequest,
  { account: { ruin, unreachable }, seats, timeline: { instant, closes }, orders, trades }: PortfolioSimulation,
  dates: Float64Array,
): string[] {
  const missing = seats.reduce((sum, { market }) => sum + market.unreplayedCandles, 0);
  const notes = noteUnreplayed(execution, missing);
  const lost = noteRuin(ruin, initialBalance, instant);
  if (lost !== null) notes.push(lost);
  notes.push(...noteUnreachable(unreachable));
  const gaps = seats.map((seat) => [seat, longestGap(seat, closes[seat.index]!, dates)] as const)
    .filter(([, days]) => days > GAP_DAYS_MAX);
  if (gaps.length > 0) {
    const named = gaps.slice(0, NAMED_MAX).map(([{ id }, days]) => `${id} (${days} days)`).join(", ");
    const others = gaps.length > NAMED_MAX ? ` and ${gaps.length - NAMED_MAX} more` : "";
    notes.push(
      `Instruments without a candle for more than ${GAP_DAYS_MAX} trading days keep their last close: ${named}${others}`,
    );
  }
  const ended = seats.filter(({ isDelisted, last, quantity, i }) => !isDelisted && i === last && quantity !== 0)
    .filter(({ last, index }) => daysBetween(dates, closes[index]!.rowOf(last), dates.length - 1) > 0);
  if (ended.length > 0) {
    const named = ended.slice(0, NAMED_MAX).map(({ id }) => id).join(", ");
    notes.push(`Positions whose candles end before the run are marked at their last close: ${named}`);
  }
  if (trades.count === 0 && orders.rejected === 0) notes.push("The strategy traded in no market");
  return notes;
}

/** The most days with marks between two candles of a market, in the range. */
function longestGap(
  seat: Seat,
  closes: PortfolioSimulation["timeline"]["closes"][number],
  dates: Float64Array,
): number {
  if (!closes.hasGaps) return 0;
  let longest = 0;
  for (let i = seat.firstIndex + 1; i <= seat.last; i++) {
    const [from, to] = [closes.rowOf(i - 1), closes.rowOf(i)];
    if (to - from > GAP_DAYS_MAX) longest = Math.max(longest, daysBetween(dates, from, to) - 1);
  }
  return longest;
}

/** Days with a mark after one row's and up to another's. */
function daysBetween(dates: Float64Array, from: number, to: number): number {
  if (dates[to]! - dates[from]! < DAY_MS) return 0;
  let days = 0;
  for (let row = from + 1; row <= to; row++) if (dates[row] !== dates[row - 1]) days++;
  return days;
}
