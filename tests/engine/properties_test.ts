/**
 * What must hold for any strategy on any candles under any assumptions, tried on random ones.
 *
 * PROPERTY_SEED, PROPERTY_FROM and PROPERTY_RUNS choose which: a failure names the run that brings it back. Without them
 * the runs are always the same, so that a change is to blame when they fail; whoever looks for more gives another seed.
 */
import { expect } from "@std/expect";
import { run } from "../../engine/run.ts";
import { bytesOf } from "./properties/bytes.ts";
import * as checks from "./properties/checks.ts";
import { type Coverage, newCoverage, noteCoverage, uncovered } from "./properties/coverage.ts";
import { randomRun } from "./properties/random_run.ts";

const SEED = 1;
const RUNS = 10_000;
// Rare combinations need some hundred runs to come up at all.
const RUNS_FOR_COVERAGE_MIN = 5000;
const LINES_SHOWN_MAX = 5;

const seed = Number(Deno.env.get("PROPERTY_SEED") ?? SEED);
const first = Number(Deno.env.get("PROPERTY_FROM") ?? 0);
const runs = Number(Deno.env.get("PROPERTY_RUNS") ?? RUNS);

const PROPERTIES: Readonly<Record<string, checks.Check>> = {
  "the books balance": checks.balances,
  "trades tell the equity at every close": checks.tradesTellEquity,
  "no price lies outside its candle": checks.fillsLieInTheirCandles,
  "no fill comes before its order": checks.fillsFollowTheirOrders,
  "no entry goes beyond the buying power": checks.staysWithinBuyingPower,
  "equity is never negative, and nothing short where it may not be": checks.respectsTheAccount,
  "a null metric has a reason that its definition names": checks.nullsHaveStatedReasons,
  "the same inputs give the same bytes": ({ input, result }) =>
    bytesOf(run(input)) === bytesOf(result) ? [] : ["a second run gave other bytes"],
  "the slow simulator agrees": checks.agreesWithTheSlowSimulator,
};

/** Tries the runs from one on until before another, and adds to the complaints what does not hold by property. */
function tryRuns(from: number, until: number, coverage: Coverage, complaints: Map<string, string[]>): void {
  for (let n = from; n < until; n++) {
    const input = randomRun(seed, n);
    const result = run(input);
    const largest = result.position.reduce(
      (most, units, k) => Math.max(most, Math.abs(units) * input.candles.close[input.firstIndex + k]!),
      0,
    );
    // The first of its simulations; the others, for bounds, assume another order of prices.
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
    // A word now and then, or whoever tries millions would be taken for one who waits for what never comes.
    await t.step(`runs ${from} to ${until - 1}`, () => tryRuns(from, until, coverage, complaints));
  }
  for (const [name, lines] of complaints) {
    await t.step(name, () => expect(lines.slice(0, LINES_SHOWN_MAX)).toEqual([]));
  }
  await t.step("every kind of order, fate, exit and assumption came up", () => {
    if (runs >= RUNS_FOR_COVERAGE_MIN) expect(uncovered(coverage)).toEqual([]);
  });
});
