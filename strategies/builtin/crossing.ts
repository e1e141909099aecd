import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { type Crosses, findCrosses } from "../../engine/indicators/cross.ts";
import { entryDraft, type Parameters, readNumber, readShorts } from "./parameter_schema.ts";
import { type BuiltinStrategy, type DecisionRules, type Line, priceLine, type Reasons } from "./builtin.ts";

/** The words of a strategy of two averages. */
export const AVERAGES_REASONS: Reasons = {
  long: "the fast average crossed above the slow one",
  short: "the fast average crossed below the slow one",
  exit_long: "the fast average crossed below the slow one",
  exit_short: "the fast average crossed above the slow one",
};

/** The averages of the periods `fast` and `slow`. @param name Of the kind of average. */
export function averageLines(
  name: string,
  average: (values: Float64Array, period: number) => Float64Array,
  parameters: Parameters,
  close: Float64Array,
): readonly Line[] {
  return ["fast", "slow"].map((parameter) => {
    const period = readNumber(parameters, parameter);
    return priceLine(`${name} ${period}`, average(close, period));
  });
}

/**
 * A strategy of two lines: long when the first crosses above the second; short, or with direction `long` flat, when it
 * crosses below. Between crosses it does nothing, so it does not re-enter after a stop. With `exclusive` = `any`, a cross towards the
 * open side closes it and enters anew; crosses alternate, unless one was none because the lines met exactly.
 *
 * @param needs `warmup`: candles until both lines have two values; `lookback`: see BuiltinStrategy.
 * @param drawLines Computes both lines, a value a candle.
 */
export function crossStrategy(
  parameters: Parameters,
  rules: DecisionRules,
  needs: Pick<BuiltinStrategy, "warmup" | "lookback">,
  drawLines: (candles: Candles, pool?: BufferPool | null) => readonly [Float64Array, Float64Array],
): BuiltinStrategy {
  const { crossThroughTouch, exclusive } = rules;
  const shorts = readShorts(parameters, rules);
  const entry = entryDraft(parameters);
  let crosses: Crosses = { candle: [], isRise: [] };
  let count = 0;
  // The first cross that has not been passed.
  let next = 0;
  const nextFrom = (i: number) => {
    while (next < crosses.candle.length && crosses.candle[next]! < i) next++;
    return crosses.candle[next] ?? count;
  };
  return {
    ...needs,
    prepare(candles, pool) {
      const lines = drawLines(candles, pool);
      crosses = findCrosses(...lines, needs.warmup - 1, crossThroughTouch);
      count = candles.close.length;
      next = 0;
      // One portfolio has lines for hundreds of markets, whose crosses alone are kept.
      for (const line of lines) pool?.giveBack(line);
    },
    nextDecision: nextFrom,
    decide(i, account, book) {
      if (nextFrom(i) !== i) return;
      const isRise = crosses.isRise[next]!;
      // The unfilled rest of the last cross's order is obsolete.
      book.cancelAll();
      entry.side = isRise ? 1 : -1;
      if (exclusive !== "any" && entry.side * account.quantity > 0) return;
      if (isRise || shorts) book.place(entry);
      else if (account.quantity > 0) book.close(1, null);
    },
  };
}
