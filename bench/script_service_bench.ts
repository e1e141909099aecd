/**
 * A user's script through the service, over HTTP to a process of its own, from its submission to its end, in turn with the built-in
 * strategy that trades the same: inline, as authors send it while they write. Runs of a year of hours are also measured after a pause, in
 * which a process waits for the next one; the other rows have none, so that each run starts its process itself.
 *
 * `deno run --allow-all bench/script_service_bench.ts [rounds]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import type { TestClient } from "../tests/support/client.ts";
import { startProcess } from "../tests/support/process.ts";
import { buildInterpreter } from "../workers/sandbox/python/build_interpreter.ts";
import { onBothDatabases } from "./both_databases.ts";
import { median, report } from "./measure.ts";
import { optimizeToEnd } from "./optimize_to_end.ts";
import { readYear } from "./run_path_cases.ts";

/** A script may take so much longer than the built-in strategy, where the candles are few. */
const START_MS_MAX = 60;
const MINUTES_RATIO = 3;
const TRIALS_RATIO = 4;
const TRIALS_MS_MAX = 2200;
const ORDERS_MS_MAX = 600;
const PYTHON_TRIALS_MS_MAX = 20_000;
const WARM_UP = 3;
/** Nothing tells when a process that waits is ready. */
const PAUSE_MS = 2000;
const rounds = Number(Deno.args[0] ?? 9);
const read = (path: string) => Deno.readTextFile(new URL(`../strategies/${path}`, import.meta.url));
const source = await read("scripts/sma_cross.ts");
const python = await read("scripts_python/sma_cross.py");
/** An order each five minutes: 105,120 in a leap year's first 365 days. */
const ORDERS = `strategy(() => ({
  decide(i, candles, account, orders) {
    if (i % 10 === 0) orders.buy();
    else if (i % 10 === 5) orders.close();
  },
}));`;
/** Grids of pairs of periods: 1,000 trials. */
const SPACE = { fast: { min: 5, max: 24, step: 1 }, slow: { min: 30, max: 226, step: 4 } };

/** The strategy of a record. */
type Strategy = "built-in" | { readonly source: string; readonly language?: "python" };

await buildInterpreter();
await onBothDatabases(await readYear(), measure);

async function measure(kind: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const service = await startProcess("serve", { WORKERS: String(navigator.hardwareConcurrency), ...environment });
  try {
    const client = service.client();
    await client.signUp();
    const hours = await alternate(rounds, (strategy) => backtest(client, "1h", { fast: 10, slow: 30 }, strategy));
    await reportHours(`${kind}: a year of 1h, inline script`, hours);
    const paused = await alternate(rounds, async (strategy) => {
      await new Promise((resume) => setTimeout(resume, PAUSE_MS));
      return await backtest(client, "1h", { fast: 10, slow: 30 }, strategy);
    });
    await reportHours(`${kind}: a year of 1h, inline script, after a pause`, paused);
    const minutes = await alternate(rounds, (strategy) => backtest(client, "1m", { fast: 120, slow: 360 }, strategy));
    await report({
      measure: `${kind}: a year of 1m, inline script`,
      ours: minutes.ours,
      reference: { name: "built-in", value: minutes.other },
      goal: { of: "ratio", most: MINUTES_RATIO },
    });
    await measureTrials(kind, client);
    const orders: number[] = [];
    for (let k = 0; k < rounds; k++) orders.push(await backtest(client, "1m", {}, { source: ORDERS }));
    await report({
      measure: `${kind}: 105,408 orders over a year of 1m, inline script`,
      ours: median(orders),
      reference: { name: "built-in cross with few orders", value: minutes.other },
      goal: { of: "ours", most: ORDERS_MS_MAX },
    });
  } finally {
    await service.end("SIGTERM");
  }
}

/** @param times Medians of milliseconds. */
async function reportHours(measure: string, { ours, other }: { ours: number; other: number }): Promise<void> {
  const most = Math.round(other + START_MS_MAX);
  await report({ measure, ours, reference: { name: "built-in", value: other }, goal: { of: "ours", most } });
}

async function measureTrials(kind: string, client: TestClient): Promise<void> {
  const { ours, other } = await alternate(Math.ceil(rounds / 3), (strategy) => optimize(client, strategy));
  const measure = `${kind}: 1,000 trials over a year of 1h, inline script`;
  const reference = { name: "built-in", value: other };
  await report({ measure, ours, reference, goal: { of: "ratio", most: TRIALS_RATIO } });
  await report({ measure: `${measure}, in all`, ours, goal: { of: "ours", most: TRIALS_MS_MAX } });
  await report({
    measure: `${kind}: 1,000 trials over a year of 1h, inline script in Python`,
    ours: await optimize(client, { source: python, language: "python" }),
    reference,
    goal: { of: "ours", most: PYTHON_TRIALS_MS_MAX },
  });
}

/** Measures both in turn, because other processes may load the machine for a while. @returns Medians of milliseconds. */
async function alternate(count: number, act: (strategy: Strategy) => Promise<number>) {
  const [ours, other]: [number[], number[]] = [[], []];
  for (let k = -Math.min(count, WARM_UP); k < count; k++) {
    const [theirs, own] = [await act("built-in"), await act({ source })];
    // The service's code becomes quick with use.
    if (k < 0) continue;
    other.push(theirs);
    ours.push(own);
  }
  return { ours: median(ours), other: median(other) };
}

/** @returns Milliseconds from the submission to the end. */
async function backtest(
  client: TestClient,
  timeframe: "1h" | "1m",
  parameters: object,
  strategy: Strategy,
): Promise<number> {
  const begun = performance.now();
  const answer = await client.send("POST", "/api/backtests", {
    backtest: { ...describe(strategy, { timeframe, ...parameters }), fresh: true },
  });
  const ended = await client.get(`/api/backtests/${answer.at("/backtest/id")}?wait=30`);
  if (ended.at("/backtest/status") !== "completed") throw new Error(`Cannot measure: ${answer.text} ${ended.text}`);
  return performance.now() - begun;
}

/** @returns Milliseconds from the submission to the end. */
async function optimize(client: TestClient, strategy: Strategy): Promise<number> {
  const optimization = { ...describe(strategy, { timeframe: "1h" }), trials_max: 1000, space: SPACE };
  return (await optimizeToEnd(client, optimization)).takenMs;
}

function describe(strategy: Strategy, parameters: object) {
  const runtime = strategy === "built-in" ? {} : { runtime: { type: "script", ...strategy } };
  const isCross = strategy !== "built-in" && strategy.source === source;
  const own = isCross ? { direction: "both", takeProfitLevel: 0, stopLossLevel: 0 } : {};
  return {
    ...{ symbol: "WARM", exchange: "BENCH", start_date: "2024-01-01", end_date: "2025-01-01" },
    ...{ initial_balance: 1_000_000, strategy: "SMA Cross", parameters: { ...own, ...parameters, ...runtime } },
  };
}
