/**
 * Properties that hold for any strategy on any candles with any settings, tried on random ones.
 *
 * PROPERTY_SEED, PROPERTY_FROM and PROPERTY_RUNS choose the runs; a failure names the values that repeat it. The default
 * runs are always the same, so a failure is due to a change. `deno task properties` makes 10,000.
 */
import { expect } from "@std/expect";
import { BufferPool, buffersOf } from "../../engine/buffer_pool.ts";
import { run } from "../../engine/run.ts";
import { bytesOf } from "./properties/bytes.ts";
import * as checks from "./properties/checks.ts";
import { type Coverage, newCoverage, noteCoverage, uncovered } from "./properties/coverage.ts";
import { randomRun } from "./properties/random_run.ts";

const SEED = 1;
// `deno task mutations` shows that these notice every rule that it breaks.
const RUNS = 3000;
const LINES_SHOWN_MAX = 5;
const POOL_BYTES_MAX = 1 << 20;

const seed = Number(Deno.env.get("PROPERTY_SEED") ?? SEED);
const first = Number(Deno.env.get("PROPERTY_FROM") ?? 0);
const runs = Number(Deno.env.get("PROPERTY_RUNS") ?? RUNS);

/** The columns of every second run lie here, the smallest ones, too. */
const pool = new BufferPool(POOL_BYTES_MAX, 1);

const PROPERTIES: Readonly<Record<string, checks.Check>> = {
  "the books balance": checks.balances,
  "the noted balances give the equity at every close, to the bit": checks.balancesGiveEquity,
  "the trades give the equity at every close": checks.tradesGiveEquity,
  "no price lies outside its candle": checks.fillsLieInTheirCandles,
  "no fill comes before its order": checks.fillsFollowTheirOrders,
  "no entry goes beyond the buying power": checks.staysWithinBuyingPower,
  "equity is never negative, and no position short without allowShort": checks.respectsTheAccount,
  "a null metric has a reason that its definition names": checks.nullsHaveStatedReasons,
  "the same inputs give the same bytes, in memory of earlier runs, too": ({ input, result }) => {
    const again = run({ ...input, pool });
    const isSame = bytesOf(again) === bytesOf(result);
    for (const buffer of buffersOf(again)) new Uint8Array(buffer).fill(0x55);
    pool.reclaim(new Set());
    return isSame ? [] : ["a second run gave other bytes"];
  },
  "the slow simulator agrees": checks.agreesWithTheSlowSimulator,
};

/** Tries runs `from` to `until` - 1 and adds violations to `complaints`, by property. */
function tryRuns(from: number, until: number, coverage: Coverage, complaints: Map<string, string[]>): void {
  for (let n = from; n < until; n++) {
    const input = randomRun(seed, n);
    const result = run(input);
    const largest = result.position.reduce(
      (most, units, k) => Math.max(most, Math.abs(units) * input.candles.close[input.firstIndex + k]!),
      0,
    );
    // The first simulation is the run itself; the others, for bounds, assume another order of prices.
    const transcript = input.strategy.transcripts[0]!;
    const finished = { input, result, transcript, scale: input.initialBalance + largest };
    noteCoverage(coverage, finished);
    for (const [name, check] of Object.entries(PROPERTIES)) {
      const lines = check(finished).slice(0, LINES_SHOWN_MAX);
      if (lines.length === 0) continue;
      complaints.get(name)!.push(`PROPERTY_SEED=${seed} PROPERTY_FROM=${n} PROPERTY_RUNS=1: ${lines.join("; ")}`);
    }
  }
}

Deno.test(`${runs} random runs of seed ${seed}`, async (t) => {
  const coverage = newCoverage();
  const complaints = new Map(Object.keys(PROPERTIES).map((name) => [name, [] as string[]]));
  const end = first + runs;
  for (let from = first; from < end; from += RUNS) {
    const until = Math.min(end, from + RUNS);
    // Steps show progress: millions of runs would look like a test that hangs.
    await t.step(`runs ${from} to ${until - 1}`, () => tryRuns(from, until, coverage, complaints));
  }
  for (const [name, lines] of complaints) {
    await t.step(name, () => expect(lines.slice(0, LINES_SHOWN_MAX)).toEqual([]));
  }
  await t.step("every kind of order, fate, exit and assumption came up", () => {
    if (runs >= RUNS) expect(uncovered(coverage)).toEqual([]);
  });
});
