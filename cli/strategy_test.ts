import { basename, resolve } from "node:path";
import { Command } from "@commander-js/extra-typings";
import { z } from "zod";
import type { Candles } from "../engine/candles.ts";
import { resolveExecution } from "../engine/execution.ts";
import type { Outcome } from "../workers/common/outcome.ts";
import { executionRequestSchema } from "../routers/runs/execution_request.ts";
import { sampleCandles } from "../workers/sandbox/sample_candles.ts";
import type { SandboxRun } from "../workers/sandbox/task.ts";
import { prepareLanguage, tryCode, tryEndpoint } from "../workers/checks/conformance.ts";
import { usageError } from "./exit_codes.ts";
import { invocationFolder, manyMarketsInstead } from "./invocation.ts";
import { readLocalCandles } from "./local_candles.ts";
import { isEndpoint, languageOf, readModule, readParameters, readScript } from "./strategy_check.ts";
import { findDifferences, summarize } from "./test_expectations.ts";
import { say } from "./terminal.ts";

const HELP = `
TESTS is a JSON file, by default the strategy's name with .test.json: a list of tests, each with a name, its candles
("closes", a list of prices; "data", a file that an import takes; else 512 generated days), "parameters", "execution",
"balance", and what to "expect" of "orders", "trades", "metrics", "log" or "error". docs/strategies.md has an example.

Exit code 0: every test held. 1: one did not, with what was found.`;

const DAY_MS = 86_400_000;
const FIRST_MS = Date.UTC(2024, 0, 1);
const VOLUME = 1000;
const TESTS_MAX = 1000;
const BALANCE = 10_000;

const part = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]));
const testSchema = z.strictObject({
  name: z.string().min(1),
  closes: z.array(z.number().positive()).min(1).optional(),
  data: z.string().optional(),
  timeframe: z.string().optional(),
  parameters: z.record(z.string(), z.unknown()).default({}),
  execution: executionRequestSchema.default({}),
  balance: z.number().positive().default(BALANCE),
  expect: z.strictObject({
    orders: z.array(part).optional(),
    trades: z.array(part).optional(),
    metrics: part.optional(),
    log: z.array(z.string()).optional(),
    error: z.string().optional(),
  }),
}).refine(({ closes, data }) => closes === undefined || data === undefined, "has closes and data: choose one");

const testsSchema = z.array(testSchema).min(1).max(TESTS_MAX);

type StrategyTest = z.infer<typeof testSchema>;

/** `hindcast strategy test`. */
export const testCommand = new Command("test")
  .description("Test a strategy: its orders, trades and figures over known candles, without a service")
  .argument("<strategy>", "a file (.ts, .py, .wasm) or the URL of an endpoint")
  .argument("[tests]", "the JSON file of its tests")
  .option("--parameters <json>", "parameters of every test, below its own", "{}")
  .option("--lookback <candles>", "how many earlier candles an endpoint sees", "100")
  .addHelpText("after", HELP)
  .action(async (target, tests, { parameters, lookback }) => {
    const strategy = isEndpoint(target) ? target : resolve(invocationFolder(), target);
    if (isEndpoint(target) && tests === undefined) {
      throw usageError(`Cannot test ${target}: name the file of its tests`);
    }
    const file = resolve(invocationFolder(), tests ?? target.replace(/\.\w+$/, ".test.json"));
    const shared = readParameters(parameters, target);
    const all = await readTests(file);
    let failed = 0;
    for (const test of all) {
      const begun = performance.now();
      const merged = { ...test, parameters: { ...shared, ...test.parameters } };
      const found = await runTest(strategy, merged, { folder: resolve(file, ".."), lookbackCandles: Number(lookback) });
      const took = `${Math.round(performance.now() - begun)} ms`;
      say(`${found.length === 0 ? "ok    " : "failed"}  ${test.name} (${took})`);
      for (const line of found) say(`        ${line}`);
      if (found.length > 0) failed++;
    }
    say(`\n${basename(file)}: ${all.length - failed} of ${all.length} tests held.`);
    if (failed > 0) Deno.exit(1);
  });

/** @throws CommandError When the file is none of tests, with the place and the reason. */
async function readTests(file: string): Promise<readonly StrategyTest[]> {
  let value: unknown;
  try {
    value = JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    const reason = error instanceof Deno.errors.NotFound ? "the file does not exist" : String(error);
    throw usageError(`Cannot read the tests ${file}: ${reason}`);
  }
  const read = testsSchema.safeParse(value);
  if (read.success) return read.data;
  const places = read.error.issues.map(({ path, message }) => `/${path.map(String).join("/")} ${message}`);
  throw usageError(`Cannot use the tests ${file}: ${places.join("; ")}`);
}

/** Runs one test. @returns What differs from its expectations, a line each. @throws CommandError for a strategy of many markets. */
async function runTest(
  strategy: string,
  test: StrategyTest,
  { folder, lookbackCandles }: { readonly folder: string; readonly lookbackCandles: number },
): Promise<readonly string[]> {
  const { candles, timeframeMs } = await readCandles(test, folder);
  const assetClass = "crypto" as const;
  const trial = {
    ...{ parameters: test.parameters, candles, timeframeMs, assetClass, initialBalance: test.balance },
    ...{ tradingDays: null, execution: resolveExecution(test.execution, assetClass, timeframeMs) },
  };
  const outcome: Outcome<SandboxRun> = isEndpoint(strategy)
    ? (await tryEndpoint({ ...trial, url: strategy, mode: "batch", lookbackCandles, data: trial })).outcome
    : await tryCode({ ...trial, code: await readCode(strategy) }, new AbortController().signal);
  const instead = outcome.type === "failed" ? manyMarketsInstead("test", outcome.message, strategy) : null;
  if (instead !== null) throw usageError(instead);
  return findDifferences(summarize(outcome, candles.time), test.expect);
}

async function readCandles(
  { closes, data, timeframe }: StrategyTest,
  folder: string,
): Promise<{ readonly candles: Candles; readonly timeframeMs: number | null }> {
  if (data !== undefined) return await readLocalCandles(resolve(folder, data), timeframe);
  return { candles: closes === undefined ? sampleCandles() : makeCandles(closes), timeframeMs: DAY_MS };
}

/** Days that close at these prices and open where the last one closed. */
function makeCandles(closes: readonly number[]): Candles {
  const open = closes.map((close, i) => closes[i - 1] ?? close);
  return {
    time: Float64Array.from(closes, (_, i) => FIRST_MS + i * DAY_MS),
    open: Float64Array.from(open),
    high: Float64Array.from(closes, (close, i) => Math.max(close, open[i]!)),
    low: Float64Array.from(closes, (close, i) => Math.min(close, open[i]!)),
    close: Float64Array.from(closes),
    volume: new Float64Array(closes.length).fill(VOLUME),
  };
}

async function readCode(path: string): Promise<Parameters<typeof tryCode>[0]["code"]> {
  const language = languageOf(path);
  if (language === null) return await readModule(path);
  await prepareLanguage(language);
  return { source: await readScript(path), language };
}
