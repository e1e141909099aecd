import { expect } from "@std/expect";
import { type Candles, viewCandles } from "../../../engine/candles.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { repeat, run } from "../../../engine/run.ts";
import { newDraft, type Strategy } from "../../../engine/strategy.ts";
import { smaCross } from "../../../strategies/builtin/sma_cross.ts";
import type { Finding, Integrity } from "../../../engine/result.ts";
import { checkIntegrity } from "../../../workers/sandbox/integrity.ts";
import { MINUTE_MS, wave } from "./remote/endpoints.ts";

const FIRST_INDEX = 10;

/** Runs a strategy and checks its integrity; also counts the candles that were run again. */
function check(make: () => Strategy, candles: Candles, seed = 5): Integrity & { readonly candlesAgain: number } {
  const execution = resolveExecution({}, "crypto");
  const settings = { firstIndex: FIRST_INDEX, initialBalance: 1000, execution, timeframeMs: MINUTE_MS, control: null };
  const inputOn = (until: number) => ({ ...settings, candles: viewCandles(candles, 0, until), strategy: make() });
  let candlesAgain = 0;
  const again = (until: number) => {
    candlesAgain += until - FIRST_INDEX;
    return repeat(inputOn(until));
  };
  const result = run(inputOn(candles.time.length));
  const integrity = checkIntegrity(again, {
    result,
    time: candles.time,
    close: candles.close,
    firstIndex: FIRST_INDEX,
    seed,
  });
  return { ...integrity, candlesAgain };
}

/** A strategy that decides by a function of the closes: 1 for long, 0 for flat. */
function follow(decide: (close: Float64Array, i: number) => number): () => Strategy {
  return () => {
    const draft = { ...newDraft(), sizeBy: 1, size: 1 };
    let close = new Float64Array(0);
    return {
      warmup: 2,
      prepare: (candles) => void (close = Float64Array.from(candles.close)),
      decide(i, account, book) {
        const wanted = decide(close, i);
        if (wanted > 0 && account.quantity === 0) book.place(draft);
        else if (wanted === 0 && account.quantity > 0) book.close(1, null);
      },
    };
  };
}

function line({ status, evidence }: Finding): string {
  return `${status}: ${evidence}`;
}

Deno.test("a built-in passes, and the checks cost a twentieth of a long run", () => {
  const candles = wave(100_000);
  const make = () => smaCross.create({ fast: 3, slow: 8, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 });
  const { lookahead, determinism, warm_up, orders, candlesAgain } = check(make, candles);
  expect([lookahead.status, determinism.status, warm_up.status, orders.status]).toEqual([
    "passed",
    "passed",
    "skipped",
    "passed",
  ]);
  expect(lookahead.evidence).toMatch(
    /^The strategy was run again on the first (\d+, ){5}\d+ of 99990 candles alone: orders/,
  );
  expect(candlesAgain).toBeLessThanOrEqual(99_990 / 20);
});

Deno.test("a strategy that looks ahead is caught with any seed, and the candle is named", () => {
  const peekers: Readonly<Record<string, (close: Float64Array, i: number) => number>> = {
    "one candle": (close, i) => close[i + 1]! > close[i]! ? 1 : 0,
    "five candles": (close, i) => close[i + 5]! > close[i]! ? 1 : 0,
    "the last close": (close, i) => close.at(-1)! > close[i]! ? 1 : 0,
  };
  for (const [name, decide] of Object.entries(peekers)) {
    for (let seed = 0; seed < 20; seed++) {
      const { lookahead, determinism } = check(follow(decide), wave(3000), seed);
      expect([name, seed, line(lookahead)]).toEqual([
        name,
        seed,
        expect.stringMatching(
          /^failed: The strategy was run again on the first \d+ of 2990 candles alone: its orders, equity or position differed at candle \d+ of the range, counted from 0 \(2024-\S+Z\)\.$/,
        ),
      ]);
      expect(determinism.status).toBe("passed");
    }
  }
});

Deno.test("a strategy that is not deterministic is not mistaken for one that looks ahead", () => {
  let calls = 0;
  const { lookahead, determinism } = check(follow(() => calls++ % 7 === 0 ? 1 : 0), wave(3000));
  expect(line(determinism)).toMatch(
    /^failed: .* twice: its orders, equity or position differed at candle \d+ of the range/,
  );
  expect(lookahead.status).toBe("skipped");
});

Deno.test("a run of two candles is too short to check, and one of three is not", () => {
  const hold = follow(() => 1);
  expect(line(check(hold, wave(FIRST_INDEX + 2)).lookahead)).toBe(
    "skipped: 2 candles are too few to cut off the last ones.",
  );
  expect(check(hold, wave(FIRST_INDEX + 3)).lookahead.status).toBe("passed");
});

Deno.test("refused orders fail no check, and are counted with their reasons", () => {
  const make = (): Strategy => ({
    warmup: 1,
    prepare: () => {},
    decide: (i, _account, book) => {
      if (i < 14) book.close(1, null);
      if (i === 12) book.place({ ...newDraft(), side: -1, reduceOnly: true });
    },
  });
  expect(line(check(make, wave(100)).orders)).toBe(
    "passed: The simulator refused 1 of 1 orders: 1 (nothing to close).",
  );
});
