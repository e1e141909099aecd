/**
 * Measures how often the verdict on the best of many trials is right, where the truth is known: docs/research.md states the rates.
 *
 * `deno task calibrate [sets] [words]`: so many sets of each kind whose name contains the words.
 */
import { say } from "../../../bench/measure.ts";
import { EDGES, measureRate, NOISE } from "./calibration.ts";

const sets = Number(Deno.args[0] ?? 150);
const words = Deno.args[1] ?? "";

for (const each of [...NOISE, ...EDGES].filter(({ name }) => name.includes(words))) {
  const rate = measureRate(each, sets);
  await say(`${each.name}: ${(rate * 100).toFixed(1)} % of ${sets} sets beyond luck`);
}
