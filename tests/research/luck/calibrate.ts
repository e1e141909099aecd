/**
 * Measures how often the verdict on the best of many trials is right, where the truth is known: docs/research.md states the rates.
 *
 * `deno task calibrate [sets] [words] [from]`: makes that number of sets of each kind whose name contains the words, numbered from one on.
 */
import { say } from "../../../bench/measure.ts";
import { type Case, EDGES, measureRate, NOISE } from "./calibration.ts";

const sets = Number(Deno.args[0] ?? 150);
const words = Deno.args[1] ?? "";
const from = Number(Deno.args[2] ?? 0);

const chosen = (cases: readonly Case[]) => cases.filter(({ name }) => name.includes(words));

/** @returns How many of all sets were called beyond luck. */
async function measure(cases: readonly Case[]): Promise<number> {
  let found = 0;
  for (const each of chosen(cases)) {
    const rate = measureRate(each, sets, from);
    found += Math.round(rate * sets);
    await say(`${each.name}: ${(rate * 100).toFixed(1)} % of ${sets} sets beyond luck`);
  }
  return found;
}

const wrong = await measure(NOISE);
const all = sets * chosen(NOISE).length;
if (all > 0) {
  const rate = wrong / all;
  const error = Math.sqrt(rate * (1 - rate) / all);
  await say(`noise: ${(rate * 100).toFixed(1)} % of ${all} sets, with a standard error of ${(error * 100).toFixed(1)}`);
}
await measure(EDGES);
