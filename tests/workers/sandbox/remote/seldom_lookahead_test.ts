/** An endpoint that looks ahead on few days only: how often it is caught. */
import { expect } from "@std/expect";
import type { Candles } from "../../../../engine/candles.ts";
import { Random } from "../../../../workers/sandbox/random.ts";
import { runRemote } from "../../../../workers/sandbox/remote/run.ts";
import { remoteTask, type Request, serveDecisions } from "./endpoints.ts";

const COUNT = 600;
const DAY_MS = 86_400_000;
const JUMP = 0.01;
const RUNS = 100;
const CAUGHT_MIN = 95;

/** Days that move by a third of a percent at most, but for one in 100 that jumps by a percent. */
function jumpingDays(seed: number): Candles {
  const random = new Random(seed);
  const close = new Float64Array(COUNT);
  for (let i = 0, price = 1000; i < COUNT; i++) {
    const isJump = i > 50 && random.below(100) === 0;
    const up = random.below(2) === 0 ? 1 : -1;
    price *= 1 + (isJump ? up * JUMP * 1.01 : (random.below(1001) - 500) / 500 * 0.003);
    close[i] = price;
  }
  const open = Float64Array.from(close, (price, i) => close[i - 1] ?? price);
  const time = Float64Array.from(close, (_, i) => Date.UTC(2024, 0, 1) + i * DAY_MS);
  return { time, open, high: close.map((price, i) => Math.max(price, open[i]!)), low: close, close, volume: close };
}

/** Follows the last two closes. `ahead`: but before a jump it takes the side of the jump. */
function follower(isAhead: boolean) {
  return ({ candles: { close }, first_asked, asked }: Request, at: number) => {
    const day = first_asked + asked + at - close.length;
    const [before, now, next] = [close[at - 2] ?? NaN, close[at]!, close[at + 1] ?? NaN];
    if (isAhead && Math.abs(next / now - 1) >= JUMP) {
      return next > now ? [{ side: "buy", when: "not_long" }] : [{ action: "close", when: "long" }];
    }
    if (day % 5 !== 0) return [];
    return now > before ? [{ side: "buy", when: "flat" }] : [{ action: "close", when: "long" }];
  };
}

async function countFailed(isAhead: boolean, runs: number): Promise<number> {
  await using endpoint = serveDecisions(follower(isAhead));
  let failed = 0;
  for (let seed = 1; seed <= runs; seed++) {
    const candles = jumpingDays(seed);
    const task = await remoteTask(endpoint.url, { candles, seed, lookbackCandles: 5, timeframeMs: DAY_MS });
    const answer = await runRemote(task, () => {});
    if (answer.type !== "completed") throw new Error(JSON.stringify(answer));
    if (answer.integrity.lookahead.status === "failed") failed++;
  }
  return failed;
}

Deno.test("looking one candle ahead on the few days that move a percent is caught in 95 of 100 runs", async () => {
  expect(await countFailed(true, RUNS)).toBeGreaterThanOrEqual(CAUGHT_MIN);
});

Deno.test("the same strategy without looking ahead is never suspected", async () => {
  expect(await countFailed(false, 10)).toBe(0);
});
