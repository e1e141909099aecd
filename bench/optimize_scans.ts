/** The optimizations of the benches optimize*: trials of an sma-cross over the sample's year. */
import { type Execution, resolveExecution } from "../engine/execution.ts";
import { fixedMs } from "../market/timeframes.ts";
import { smaCross } from "../strategies/builtin/sma_cross.ts";
import type { TestClient } from "../tests/support/client.ts";
import type { Year } from "./run_path_cases.ts";

/** Equal steps of a period. */
interface Steps {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Trials with each pair of periods. */
export interface Scan {
  readonly name: string;
  readonly timeframe: "1h" | "1m";
  readonly fast: Steps;
  readonly slow: Steps;
}

export const HOURS: Scan = {
  name: "1,000 trials over a year of 1h",
  timeframe: "1h",
  fast: { first: 5, step: 1, count: 20 },
  slow: { first: 30, step: 4, count: 50 },
};

export const MINUTES: Scan = {
  name: "100 trials over a year of 1m",
  timeframe: "1m",
  fast: { first: 60, step: 12, count: 10 },
  slow: { first: 240, step: 48, count: 10 },
};

const valuesOf = ({ first, step, count }: Steps) => Array.from({ length: count }, (_, k) => first + k * step);

/** The pairs of periods, in the order of the trials. */
export function pairsOf({ fast, slow }: Scan): readonly { readonly fast: number; readonly slow: number }[] {
  return valuesOf(fast).flatMap((each) => valuesOf(slow).map((other) => ({ fast: each, slow: other })));
}

/** The runs of the trials for the engine alone. */
export function inputsOf(scan: Scan, year: Year, execution: Execution = resolveExecution({}, "crypto")) {
  return pairsOf(scan).map((pair) => ({
    candles: year.candles[scan.timeframe],
    firstIndex: 0,
    initialBalance: 1_000_000,
    execution,
    timeframeMs: fixedMs(scan.timeframe),
    assetClass: "crypto" as const,
    strategy: smaCross.create({ ...pair, direction: "both", takeProfitLevel: 0, stopLossLevel: 0 }, execution),
    control: null,
  }));
}

/**
 * Optimizes over HTTP.
 *
 * @param runtime Code of the strategy's meaning; the built-in one where it is absent.
 * @returns Milliseconds from the submission to the end.
 */
export async function optimize(client: TestClient, scan: Scan, runtime?: object): Promise<number> {
  const spaceOf = ({ first, step, count }: Steps) => ({ min: first, max: first + (count - 1) * step, step });
  const begun = performance.now();
  const answer = await client.send("POST", "/api/optimizations", {
    optimization: {
      ...{ symbol: "WARM", exchange: "BENCH", start_date: "2024-01-01", end_date: "2025-01-01", trials_max: 100_000 },
      ...{ initial_balance: 1_000_000, strategy: runtime === undefined ? "SMA Cross" : "own" },
      parameters: { timeframe: scan.timeframe, ...(runtime === undefined ? {} : { runtime, direction: "both" }) },
      space: { fast: spaceOf(scan.fast), slow: spaceOf(scan.slow) },
    },
  });
  const id = answer.at("/optimization/id");
  let ended = answer;
  do ended = await client.get(`/api/optimizations/${id}?wait=30`); while (
    ["queued", "running"].includes(String(ended.at("/optimization/status")))
  );
  const takenMs = performance.now() - begun;
  if (ended.at("/optimization/status") !== "completed") throw new Error(`Cannot measure: ${ended.text}`);
  const failed = Number(ended.at("/optimization/trials/failed"));
  if (failed > 0) throw new Error(`Cannot measure: ${failed} trials have failed`);
  return takenMs;
}
