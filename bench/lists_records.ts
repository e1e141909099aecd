/** The records whose lists lists_bench.ts reads. */
import { eq } from "drizzle-orm";
import { z } from "zod";
import type { Db } from "../db/client.ts";
import { TrialTable } from "../db/codec/trial_table.ts";
import { optimizations } from "../db/schema.ts";
import { insertTrialChunk } from "../db/trial_chunks.ts";
import { type Metrics, NUMERIC_METRIC_NAMES } from "../engine/metrics/definitions.ts";
import type { TestClient } from "../tests/support/client.ts";
import { addOptimization } from "../tests/support/optimizations.ts";
import { say } from "./measure.ts";
import { makeWalk } from "./random_walk.ts";

// An optimization of a usual size, by its number of trials.
const TRIALS = 480_000;
const CHUNK_TRIALS = 10_000;
// As addOptimization() has them.
const POINTS = 10_000;
const START = "2024-02-01T00:00:00.000Z";
const NONE = new Float64Array();
// To check each of them takes longer than all the rest.
const metricsSchema = z.custom<Metrics>();
const WEEK = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2024-01-08" };
const YEAR = { ...WEEK, end_date: "2025-01-01", initial_balance: 10_000 };
const MINUTES = { timeframe: "1m", fast: 1 };
const MINUTE_MS = 60_000;
// As many as RUN_CANDLES_MAX lets a run have.
const LONGEST_CANDLES = 5_000_000;
const LONGEST_FROM = Date.UTC(2012, 0, 1);
const ROWS_PER_PIECE = 10_000;

/** The range of a run over LONGEST_CANDLES minutes. */
export const LONGEST = {
  ...{ symbol: "LONG", exchange: "LAB", start_date: "2012-01-01" },
  end_date: new Date(LONGEST_FROM + LONGEST_CANDLES * MINUTE_MS).toISOString().slice(0, 10),
  initial_balance: 1e9,
};

/** Imports the candles of LONGEST, as an operator imports a file. */
export async function importLongest(url: string, secret: string): Promise<void> {
  const path = `/api/admin/ingestion/import?symbol=LONG&exchange=LAB&assetClass=crypto&timeframe=1m`;
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": secret },
    body: ReadableStream.from(writeCsv()),
  });
  if (answer.status !== 200) throw new Error(`Cannot import: ${answer.status} ${await answer.text()}`);
  await answer.body?.cancel();
}

async function* writeCsv(): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  const { open, high, low, close, volume } = makeWalk(LONGEST_CANDLES, MINUTE_MS);
  yield encoder.encode("timestamp,open,high,low,close,volume\n");
  for (let first = 0; first < LONGEST_CANDLES; first += ROWS_PER_PIECE) {
    let text = "";
    for (let i = first; i < first + ROWS_PER_PIECE; i++) {
      text += `${LONGEST_FROM + i * MINUTE_MS},${open[i]},${high[i]},${low[i]},${close[i]},${volume[i]}\n`;
    }
    yield encoder.encode(text);
  }
}

/** Stores trials as an optimization does, without running any. */
export async function storeTrials(db: Db, ownerId: string): Promise<string> {
  const id = await addOptimization(db, ownerId);
  for (let first = 0; first < TRIALS; first += CHUNK_TRIALS) {
    const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: TRIALS });
    for (let place = first; place < first + CHUNK_TRIALS; place++) {
      const metrics = Object.fromEntries(NUMERIC_METRIC_NAMES.map((name, i) => [name, Math.sin(place * (i + 1))]));
      const values = metricsSchema.parse({ ...metrics, start: START, end: START });
      table.add({ place, point: place % POINTS }, { metrics: values, undefinedMetrics: {}, dailyReturns: NONE });
    }
    const { trials, data, notes, returns } = table.encode();
    const chunk = { optimizationId: id, first, window: null, pointsCount: CHUNK_TRIALS, durationMs: 1 };
    await insertTrialChunk(db, { ...chunk, trials, data, notes, returns });
  }
  const done = { status: "completed", trials: TRIALS, points: TRIALS, pointsDone: TRIALS } as const;
  await db.update(optimizations).set(done).where(eq(optimizations.id, id));
  return id;
}

/** Runs SMA Cross with each length over a range of minutes, a year where none is given. @returns The runs' ids. */
export async function storeTrades(
  user: TestClient,
  range: object,
  lengths: readonly [number, number],
): Promise<readonly [string, string]> {
  const store = async (slow: number) => {
    const submitted = await user.send("POST", "/api/backtests", {
      backtest: { ...YEAR, ...range, strategy: "SMA Cross", parameters: { ...MINUTES, slow } },
    });
    const id = submitted.at("/backtest/id");
    if (submitted.status !== 202) throw new Error(`Cannot submit: ${submitted.text}`);
    const ended = await user.finish(id);
    const { candles, trades } = {
      candles: ended.at("/backtest/result/data/candles"),
      trades: ended.at("/backtest/result/metrics/trades"),
    };
    await say(`${trades} trades over ${candles} candles ${JSON.stringify(ended.at("/backtest/error"))}`);
    return String(id);
  };
  return [await store(lengths[0]), await store(lengths[1])];
}
