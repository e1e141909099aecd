/** Checks crafted schemas and 10,000 random ones, and fails where one takes more than 50 ms of this process's time. */
import process from "node:process";
import { matchRules, TooManyStepsError } from "../../../routers/strategies/match_rules.ts";
import { readRules } from "../../../routers/strategies/parameter_rules.ts";
import { craftedCases } from "./crafted_schemas.ts";
import { randomCase } from "./random_schemas.ts";

const RUNS = 10_000;
const CPU_MS_MAX = 50;
// Only a check that looks slow is repeated: the compiler and the collector of garbage take their time at random.
const SLOW_MS = 10;
const REPEATS = 4;

interface Timed {
  readonly name: string;
  readonly cpuMs: number;
}

function timeOnce(schema: unknown, value: unknown): number {
  const before = process.cpuUsage();
  const begun = performance.now();
  try {
    matchRules(readRules(schema, ""), value, "");
  } catch (error) {
    if (!(error instanceof TooManyStepsError)) throw error;
  }
  const passedMs = performance.now() - begun;
  const { user, system } = process.cpuUsage(before);
  // Threads of the runtime count among the process's time, and other processes among the time that passed.
  return Math.min(passedMs, (user + system) / 1_000);
}

function time(name: string, { schema, value }: { readonly schema: unknown; readonly value: unknown }): Timed {
  let cpuMs = timeOnce(schema, value);
  for (let i = 0; i < REPEATS && cpuMs > SLOW_MS; i++) cpuMs = Math.min(cpuMs, timeOnce(schema, value));
  return { name, cpuMs };
}

function* timeAll(): Generator<Timed> {
  for (const [i, crafted] of craftedCases().entries()) yield time(`crafted ${i}`, crafted);
  for (let seed = 0; seed < RUNS; seed++) yield time(`random ${seed}`, randomCase(seed, 1 + seed % 6));
}

const slowest = [...timeAll()].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, 5);
const lines = slowest.map(({ name, cpuMs }) => `${name}: ${cpuMs.toFixed(1)} ms`);
Deno.stdout.writeSync(new TextEncoder().encode(`The slowest checks of schemas\n${lines.join("\n")}\n`));
Deno.exit((slowest[0]?.cpuMs ?? 0) > CPU_MS_MAX ? 1 : 0);
