import type { Portfolio } from "../../../api.ts";
import { formatDate } from "../../../parts/format.ts";
import { chooseDates } from "../../../parts/scale.ts";

// More lines or areas could not be told apart.
const DRAWN_MAX = 9;
// The golden angle: neighbours have hues far apart.
const HUE_STEP = 137.5;
const DATE_PX = 56;

/** The markets that drawings tell apart, in one order and one colour each, and the others together. */
export interface DrawnMarkets {
  /** A name and a colour each; the last one may stand for the others. */
  readonly drawn: readonly { readonly name: string; readonly color: string }[];
  /** The row of `drawn` of a market, by its row in `contributions`; undefined for one that was never held. */
  rowOf(market: number): number | undefined;
}

/** Chooses the markets with the largest weights on average. */
export function chooseMarkets({ contributions, weights }: Portfolio): DrawnMarkets {
  const sums = new Map<number, number>();
  for (const [, market, weight] of weights.rows) sums.set(market, (sums.get(market) ?? 0) + Math.abs(weight));
  const ranked = [...sums].sort(([, a], [, b]) => b - a).map(([market]) => market);
  const own = ranked.slice(0, ranked.length > DRAWN_MAX + 1 ? DRAWN_MAX : DRAWN_MAX + 1);
  const drawn = own.map((market, i) => ({
    name: contributions[market]!.instrument,
    color: `oklch(from var(--accent) l c calc(h + ${i * HUE_STEP}))`,
  }));
  if (own.length < ranked.length) drawn.push({ name: `${ranked.length - own.length} others`, color: "var(--muted)" });
  const rows = new Map(ranked.map((market, i) => [market, Math.min(i, drawn.length - 1)]));
  return { drawn, rowOf: (market) => rows.get(market) };
}

/** The profit of each market so far at each moment of the weights, by its row in `contributions`; null in results from before it was kept. */
export function profitLines({ contributions, weights: { timestamps }, profits }: Portfolio): Float64Array[] | null {
  if (profits === undefined || timestamps.length < 2) return null;
  const lines = contributions.map(() => new Float64Array(timestamps.length));
  const known = new Int32Array(contributions.length);
  const fill = (market: number, until: number) => {
    const line = lines[market]!;
    line.fill(line[known[market]!]!, known[market], until);
  };
  for (const [moment, market, profit] of profits.rows) {
    fill(market, moment);
    lines[market]![moment] = profit;
    known[market] = moment;
  }
  lines.forEach((_, market) => fill(market, timestamps.length));
  return lines;
}

/** Dates under a drawing. @param times Milliseconds since 1970, rising. @param right The pixel where the drawing ends. */
export function dateTicks(
  times: readonly number[],
  x: (time: number) => number,
  right: number,
): (readonly [pixel: number, text: string])[] {
  const [first, last] = [times[0]!, times.at(-1)!];
  return chooseDates(Date.parse(formatDate(first)), last, 6).filter((date) => date >= first)
    .map((date) => [x(date), formatDate(date)] as const)
    // A date at the edge would be cut.
    .filter(([place]) => place <= right - DATE_PX / 2);
}
