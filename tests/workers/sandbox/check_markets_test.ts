import { expect } from "@std/expect";
import type { PortfolioStrategy } from "../../../engine/portfolio/portfolio.ts";
import { newDraft, type OrderBook, type Strategy } from "../../../engine/strategy.ts";
import { resolveExecution, withPeriodsPerYear } from "../../../engine/execution.ts";
import type { MarketsTask } from "../../../workers/common/protocol.ts";
import { checkStrategies, simulateMarkets, strategyForEach } from "../../../workers/sandbox/markets/run_markets.ts";
import { dailyCandles, wanderingCloses } from "./wasm/modules.ts";

const DAY_MS = 86_400_000;

/** Two markets of 400 days; the second one has every third candle alone. */
function twoMarkets(seed: number): MarketsTask {
  const all = dailyCandles(wanderingCloses(400, 2));
  const kept = (values: Float64Array) => values.filter((_, i) => i % 3 === 0);
  const { time, open, high, low, close, volume } = all;
  const third = { time, open, high, low, close, volume };
  const market = (symbol: string, candles: typeof third) => ({
    ...{ id: `${symbol}@LAB`, symbol, exchange: "LAB", candles, firstIndex: 0 },
  });
  return {
    markets: [
      market("AAA", dailyCandles(wanderingCloses(400, 1))),
      market("BBB", {
        ...{ time: kept(time), open: kept(open), high: kept(high), low: kept(low), close: kept(close) },
        volume: kept(volume),
      }),
    ],
    timeframeMs: DAY_MS,
    initialBalance: 10_000,
    execution: withPeriodsPerYear(resolveExecution({}, null), "crypto", DAY_MS),
    assetClass: "crypto",
    positionsMax: 2,
    rank: "listed",
    seed,
  };
}

/** Buys before a candle that rises, and sells before one that falls. @param look How many candles ahead it reads. */
function looking(look: number): Strategy {
  let close: Float64Array = new Float64Array(0);
  return {
    warmup: 1,
    prepare: (candles) => void (close = candles.close),
    decide(i, account, book: OrderBook) {
      const rises = (close[i + look] ?? 0) > close[i + look - 1]!;
      if (i + look < 2) return;
      if (account.quantity === 0 && rises) book.place(newDraft());
      else if (account.quantity > 0 && !rises) book.close(1, null);
    },
  };
}

const check = (seed: number, make: () => Strategy) => {
  const task = twoMarkets(seed);
  const each = () => strategyForEach(task, make);
  const { lookahead, determinism } = checkStrategies(task, simulateMarkets(task, each(), null), each);
  return [lookahead.status, determinism.status];
};

Deno.test("a strategy that reads the next candle of its market is caught, and one that does not passes", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    expect(check(seed, () => looking(0))).toEqual(["passed", "passed"]);
    expect(check(seed, () => looking(1))).toEqual(["failed", "passed"]);
  }
});

Deno.test("a strategy that remembers another run is not deterministic", () => {
  let state = 1;
  const moody = (): Strategy => ({
    warmup: 1,
    prepare: () => {},
    decide(i, account, book) {
      if (i % 5 === 0 && account.quantity === 0 && (state = (state * 48_271) % 2_147_483_647) % 2 === 0) {
        book.place(newDraft());
      }
      if (i % 5 === 2 && account.quantity > 0) book.close(1, null);
    },
  });
  expect(check(1, moody)[1]).toBe("failed");
});

/** Holds the market that rises most until the next candle. @param look How many candles ahead it reads. */
function weighing(look: number): PortfolioStrategy {
  return {
    kind: "portfolio",
    warmup: 2,
    every: null,
    prepare: () => {},
    decide(_now, markets, _account, orders) {
      const riseOf = ({ candles: { close }, i }: typeof markets[number]) =>
        (close[i + look] ?? 0) / (close[i + look - 1] ?? Infinity);
      const [a, b] = [riseOf(markets[0]!), riseOf(markets[1]!)];
      orders.target(Float64Array.of(a > b ? 1 : 0, a > b ? 0 : 1));
    },
  };
}

Deno.test("a strategy for many markets that reads the next candles is caught, and one that does not passes", () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const task = twoMarkets(seed);
    for (const [look, expected] of [[0, "passed"], [1, "failed"]] as const) {
      const acts = simulateMarkets(task, weighing(look), null);
      const { lookahead, determinism } = checkStrategies(task, acts, () => weighing(look));
      expect([seed, look, lookahead.status, determinism.status]).toEqual([seed, look, expected, "passed"]);
    }
  }
});
