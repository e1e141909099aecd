/**
 * Measures how often the verdict on the best of many trials is right, where the truth is known: docs/research.md states the rates.
 *
 * `deno task calibrate [sets] [words] [from]`: so many sets of each kind whose name contains the words, numbered from one on.
 */
import { say } from "../../../bench/measure.ts";
import { EDGES, measureRate, NOISE } from "./calibration.ts";

const sets = Number(Deno.args[0] ?? 150);
const words = Deno.args[1] ?? "";
const from = Number(Deno.args[2] ?? 0);

for (const each of [...NOISE, ...EDGES].filter(({ name }) => name.includes(words))) {
  const rate = measureRate(each, sets, from);
  await say(`${each.name}: ${(rate * 100).toFixed(1)} % of ${sets} sets beyond luck`);
}
