import type { BufferPool } from "../../engine/buffer_pool.ts";
import type { Candles } from "../../engine/candles.ts";
import { crossesAbove, nextCross } from "../../engine/indicators/cross.ts";
import { entryDraft, type Parameters, readShorts } from "./parameter_schema.ts";
import type { BuiltinStrategy, DecisionRules } from "./builtin.ts";

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
  let first: Float64Array = new Float64Array(0);
  let second: Float64Array = first;
  let cross = -1;
  const rises = (i: number) => crossesAbove(first, second, i, crossThroughTouch);
  const falls = (i: number) => crossesAbove(second, first, i, crossThroughTouch);
  return {
    ...needs,
    prepare(candles, pool) {
      [first, second] = drawLines(candles, pool);
      cross = -1;
    },
    nextDecision(i) {
      if (cross < i) cross = nextCross(first, second, i, crossThroughTouch);
      return cross;
    },
    decide(i, account, book) {
      const isRise = rises(i);
      if (!isRise && !falls(i)) return;
      // The unfilled rest of the last cross's order is obsolete.
      book.cancelAll();
      entry.side = isRise ? 1 : -1;
      if (exclusive !== "any" && entry.side * account.quantity > 0) return;
      if (isRise || shorts) book.place(entry);
      else if (account.quantity > 0) book.close(1, null);
    },
  };
}
