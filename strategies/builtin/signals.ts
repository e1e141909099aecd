import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import type { BandColumns } from "../../engine/indicators/bollinger.ts";
import type { TradingDayColumns } from "../../engine/metrics/input.ts";
import { entryDraft, type Parameters, readShorts } from "./parameter_schema.ts";
import type { BuiltinStrategy, DecisionRules } from "./builtin.ts";

/** A strategy's signals at the close of a candle. */
interface Signals {
  /** True where it goes long. */
  readonly buys: (i: number) => boolean;
  /** True where it goes short. */
  readonly sells: (i: number) => boolean;
  /** True where it has to leave a long position, or a short one. */
  readonly leavesLong: (i: number) => boolean;
  readonly leavesShort: (i: number) => boolean;
}

const never = () => false;
const NONE: Signals = { buys: never, sells: never, leavesLong: never, leavesShort: never };

/** Signals that expect closes outside the bands to return to the middle one. */
export function returnSignals(close: Float64Array, { upper, middle, lower }: BandColumns): Signals {
  return {
    buys: (i) => close[i - 1]! >= lower[i - 1]! && close[i]! < lower[i]!,
    sells: (i) => close[i - 1]! <= upper[i - 1]! && close[i]! > upper[i]!,
    leavesLong: (i) => close[i]! >= middle[i]!,
    leavesShort: (i) => close[i]! <= middle[i]!,
  };
}

/**
 * A strategy that enters at market by a signal and leaves by another. An entry against the position turns it. It enters
 * only where the signals say so, so it does not re-enter after a stop.
 *
 * @param needs `warmup`: candles until every signal has its values; `lookback`: see BuiltinStrategy.
 * @param watch Computes the columns and returns the signals that read them.
 */
export function signalStrategy(
  parameters: Parameters,
  rules: DecisionRules,
  needs: Pick<BuiltinStrategy, "warmup" | "lookback">,
  watch: (candles: Candles, pool?: BufferPool | null, days?: TradingDayColumns | null) => Signals,
): BuiltinStrategy {
  const shorts = readShorts(parameters, rules);
  const entry = entryDraft(parameters);
  let { buys, sells, leavesLong, leavesShort } = NONE;
  let count = 0;
  return {
    ...needs,
    prepare(candles, pool, days) {
      count = candles.close.length;
      ({ buys, sells, leavesLong, leavesShort } = watch(candles, pool, days));
      if (!shorts) sells = never;
    },
    nextDecision(i, { quantity }) {
      if (quantity > 0) { while (i < count && !leavesLong(i) && !sells(i)) i++; }
      else if (quantity < 0) { while (i < count && !leavesShort(i) && !buys(i)) i++; }
      else while (i < count && !buys(i) && !sells(i)) i++;
      return i;
    },
    decide(i, { quantity }, book) {
      if (quantity <= 0 && buys(i)) {
        entry.side = 1;
        book.place(entry);
      } else if (quantity >= 0 && sells(i)) {
        entry.side = -1;
        book.place(entry);
      } else if ((quantity > 0 && leavesLong(i)) || (quantity < 0 && leavesShort(i))) {
        // Repeated at each close until flat: volume may have held back part of the entry or of the last exit.
        book.cancelAll();
        book.close(1, null);
      }
    },
  };
}
