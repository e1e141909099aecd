import type { MarketView } from "../../../engine/portfolio/portfolio.ts";
import { DAY_MS } from "../../../engine/time/durations.ts";

/** The standard deviation of the last `count` returns up to candle `i`; NaN without movement. */
export function volatilityOf({ candles: { close }, i }: MarketView, count: number): number {
  let [sum, squares] = [0, 0];
  for (let k = i - count + 1; k <= i; k++) sum += close[k]! / close[k - 1]! - 1;
  const mean = sum / count;
  for (let k = i - count + 1; k <= i; k++) squares += (close[k]! / close[k - 1]! - 1 - mean) ** 2;
  const deviation = Math.sqrt(squares / (count - 1));
  return deviation > 0 ? deviation : NaN;
}

/**
 * The newest closes that all markets have in common, `count` of each, oldest first; null where there are fewer. Candles belong
 * together by their opens, those of a day or longer by the day of their opens: sessions begin at different hours.
 */
export function commonCloses(markets: readonly MarketView[], count: number): Float64Array[] | null {
  const columns = markets.map(() => new Float64Array(count));
  const at = markets.map(({ i }) => i);
  for (let row = count - 1; row >= 0;) {
    let oldest = Infinity;
    for (let n = 0; n < markets.length; n++) {
      if (at[n]! < 0) return null;
      oldest = Math.min(oldest, keyOf(markets[n]!, at[n]!));
    }
    let isCommon = true;
    for (let n = 0; n < markets.length; n++) {
      while (at[n]! >= 0 && keyOf(markets[n]!, at[n]!) > oldest) {
        at[n]!--;
        isCommon = false;
      }
    }
    if (!isCommon) continue;
    for (let n = 0; n < markets.length; n++) columns[n]![row] = markets[n]!.candles.close[at[n]!--]!;
    row--;
  }
  return columns;
}

function keyOf({ candles: { time } }: MarketView, i: number): number {
  const isDaily = time.length < 2 || time[1]! - time[0]! >= DAY_MS / 2;
  return isDaily ? Math.floor(time[i]! / DAY_MS) : time[i]!;
}
