/** The moments at which a strategy for many markets is asked, and the notes about markets that rest or end. */
import { expect } from "@std/expect";
import type { PortfolioMarket, PortfolioStrategy } from "../../../engine/portfolio/portfolio.ts";
import { candlesOf } from "../market.ts";
import { DAY_MS, each, holder, marketOf, runOf, still } from "./on_paper.ts";

const dateOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
const days = (count: number) => still(...Array.from({ length: count }, () => 10));

/** The dates of the trading days at whose closes a strategy is asked. */
function askedAt(every: PortfolioStrategy["every"], warmup: number, markets: readonly PortfolioMarket[]): string[] {
  const asked: string[] = [];
  runOf(markets, {
    ...{ kind: "portfolio", warmup, every },
    prepare: () => void (asked.length = 0),
    // A day of UTC ends as the next one begins.
    decide: (now) => void asked.push(dateOf(now - 1)),
  });
  return asked;
}

Deno.test("a period asks at its first close, and the warm-up at the close that ends it", () => {
  const market = marketOf("A", days(100));
  // 1970 from 1 January, a Thursday, to 10 April.
  expect(askedAt("month", 1, [market])).toEqual(["1970-01-01", "1970-02-01", "1970-03-01", "1970-04-01"]);
  expect(askedAt("month", 6, [market])).toEqual(["1970-01-06", "1970-02-01", "1970-03-01", "1970-04-01"]);
  expect(askedAt("month", 40, [market])).toEqual(["1970-02-09", "1970-03-01", "1970-04-01"]);
  expect(askedAt("quarter", 6, [market])).toEqual(["1970-01-06", "1970-04-01"]);
  // Weeks begin on Monday: the 12th is the first after a warm-up that ends on Tuesday the 6th.
  expect(askedAt("week", 6, [market]).slice(0, 3)).toEqual(["1970-01-06", "1970-01-12", "1970-01-19"]);
  expect(askedAt("day", 6, [market]).length).toBe(95);
});

Deno.test("one market with enough candles ends the warm-up of all, and candles before the range count", () => {
  const early = marketOf("EARLY", days(40));
  const late = { ...marketOf("LATE", []), candles: from(20, 20) };
  expect(askedAt("month", 10, [late, early])).toEqual(["1970-01-10", "1970-02-01"]);
  expect(askedAt("month", 10, [{ ...early, firstIndex: 9 }])).toEqual(["1970-01-10", "1970-02-01"]);
  expect(askedAt("month", 10, [{ ...early, firstIndex: 15 }])).toEqual(["1970-01-16", "1970-02-01"]);
});

Deno.test("more than ten trading days without a candle are noted, and ten are not", () => {
  const whole = marketOf("WHOLE", days(40));
  const notesOf = (without: number) => {
    const rests = { ...marketOf("RESTS", []), candles: withGap(without) };
    return runOf([whole, rests], each([holder(), holder()])).notes.join("\n");
  };
  expect(notesOf(11)).toContain(
    "Instruments without a candle for more than 10 trading days keep their last close: RESTS (11 days)",
  );
  expect(notesOf(10)).not.toContain("without a candle");
});

Deno.test("a position whose candles end without a date is marked there and noted; one that is delisted is closed", () => {
  const whole = marketOf("WHOLE", days(10));
  const ends = runOf([whole, marketOf("ENDS", days(5))], each([holder(), holder()]));
  expect(ends.notes).toContain("Positions whose candles end before the run are marked at their last close: ENDS");
  expect(ends.trades.exitTime.every((time) => !(time > 0))).toBe(true);
  const delisted = { memberships: [{ from: 0, until: 6 * DAY_MS }], isDelisted: true };
  const closed = runOf([whole, marketOf("ENDS", days(5), delisted)], each([holder(), holder()]));
  expect(closed.notes.join()).not.toContain("marked at their last close");
  // The account has its money back on the fifth day, though nobody asked for it.
  expect([closed.trades.market[0], closed.trades.exitTime[0]]).toEqual([1, 4 * DAY_MS]);
});

/** Days at 10 from the `first` on. */
function from(first: number, count: number) {
  const candles = candlesOf(days(count));
  return { ...candles, time: candles.time.map((time) => time + first * DAY_MS) };
}

/** Forty days of which so many are missing after the tenth. */
function withGap(missing: number) {
  const candles = candlesOf(days(40 - missing));
  return { ...candles, time: candles.time.map((time, i) => i < 10 ? time : time + missing * DAY_MS) };
}
