import { expect } from "@std/expect";
import { sql } from "drizzle-orm";
import { packColumns } from "../../db/codec/packed_columns.ts";
import { TRIAL_FRAME, TrialTable } from "../../db/codec/trial_table.ts";
import type { Db } from "../../db/client.ts";
import { insertTrialChunk, readTrialChunks, readTrialMetric, readTrialReturns } from "../../db/trial_chunks.ts";
import { trialChunks } from "../../db/schema.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { resultSchema } from "../../routers/backtests/backtest_result.ts";
import { addUser } from "../support/backtests.ts";
import { DATABASES, openTestDatabase } from "../support/database.ts";
import { addOptimization } from "../support/optimizations.ts";

const DAY = "2024-02-01T00:00:00.000Z";

/** Three trials, of which each metric is its place among the metrics and the trial's own number. */
function encodeThree(first: number, dailyReturn = (place: number) => place) {
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1 });
  for (const place of [first, first + 1, first + 2]) {
    const metrics = Object.fromEntries(NUMERIC_METRIC_NAMES.map((name, i) => [name, i + place / 1000]));
    const values = resultSchema.shape.metrics.parse({ ...metrics, start: DAY, end: DAY });
    const at = { place, point: 10 * place };
    table.add(at, { metrics: values, undefinedMetrics: {}, dailyReturns: Float64Array.of(dailyReturn(place)) });
  }
  return table.encode();
}

async function insertThree(db: Db, optimizationId: string, first: number, more: object = {}): Promise<void> {
  const { trials, data, notes, returns } = encodeThree(first);
  const place = { optimizationId, first, window: null, pointsCount: 3, durationMs: 1 };
  await insertTrialChunk(db, { ...place, trials, data, notes, returns, ...more });
}

for (const kind of DATABASES) {
  Deno.test(`a metric of trials is read without their other metrics (${kind})`, async () => {
    const handle = await openTestDatabase(kind);
    const { db } = handle;
    await addUser(db, "ann");
    const id = await addOptimization(db, "ann");
    await insertThree(db, id, 0);
    // As versions before the frames wrote them.
    const { notes: { frames: _frames, ...notes } } = encodeThree(3);
    const own = {
      place: [3, 4, 5],
      point: [30, 40, 50],
      days: [1, 1, 1],
      error: [-1, -1, -1],
      undefined: [-1, -1, -1],
    };
    const columns = { ...own, sharpe: [7, 8, 9] };
    const old = Object.fromEntries(Object.entries(columns).map(([name, values]) => [name, Float64Array.from(values)]));
    await insertThree(db, id, 3, { data: packColumns(old), notes });
    // The first byte of the frames of all other metrics is damaged.
    const { frames = {} } = encodeThree(0).notes;
    for (const [name, [at]] of Object.entries(frames)) {
      if (name === "sharpe" || name === TRIAL_FRAME) continue;
      await db.update(trialChunks).set({ data: sql`set_byte(data, ${at}::integer, 0)` }).where(sql`first = 0`);
    }

    const read: unknown[] = [];
    for await (const { first, count, columns: { place, point, sharpe, cagr } } of readTrialMetric(db, id, "sharpe")) {
      read.push([first, count, [...place!], [...point!], [...sharpe!], cagr]);
    }
    const sharpe = NUMERIC_METRIC_NAMES.indexOf("sharpe");
    expect(read).toEqual([
      [0, 3, [0, 1, 2], [0, 10, 20], [sharpe, sharpe + 0.001, sharpe + 0.002], undefined],
      [3, 3, [3, 4, 5], [30, 40, 50], [7, 8, 9], undefined],
    ]);
    const missing: unknown[] = [];
    for await (const { columns } of readTrialMetric(db, id, "of a later version")) {
      missing.push(columns["of a later version"]);
    }
    expect(missing).toEqual([undefined, undefined]);
    await expect(readTrialChunks(db, id).next()).rejects.toThrow("Cannot read columns");
    const whole = (await readTrialChunks(db, id, { from: 3 }).next()).value;
    expect([...whole?.columns.sharpe ?? []]).toEqual([7, 8, 9]);
    await handle.close();
  });

  Deno.test(`daily returns are kept to the last digit, and those of earlier versions have seven (${kind})`, async () => {
    const handle = await openTestDatabase(kind);
    const { db } = handle;
    await addUser(db, "ann");
    const id = await addOptimization(db, "ann");
    await insertThree(db, id, 0, { returns: encodeThree(0, (place) => 1 / (place + 3)).returns });
    const older = Float64Array.from(Float32Array.of(1 / 3, 1 / 7, 0.5));
    await insertThree(db, id, 3, { returns: packColumns({ returns: older }) });
    const read: number[] = [];
    for await (const { returns } of readTrialReturns(db, id)) read.push(...returns);
    expect(read).toEqual([1 / 3, 1 / 4, 1 / 5, ...older]);
    await handle.close();
  });

  Deno.test(`a read ahead that fails while nobody waits for it fails the next turn, and not the process (${kind})`, async () => {
    const handle = await openTestDatabase(kind);
    const { db } = handle;
    await addUser(db, "ann");
    const id = await addOptimization(db, "ann");
    for (const first of [0, 3, 6]) await insertThree(db, id, first);
    const chunks = readTrialMetric(db, id, "sharpe");
    expect((await chunks.next()).value?.first).toBe(0);
    await db.execute(sql`alter table trial_chunks rename to gone`);
    // The second chunk may have been read before that; the third one's read fails while nobody waits for it.
    const goOn = async () => {
      for (let turn = 0; turn < 3; turn++) {
        await chunks.next();
        await db.execute(sql`select 1`);
        await new Promise((resume) => setTimeout(resume));
      }
    };
    await expect(goOn()).rejects.toThrow("trial_chunks");
    await handle.close();
  });
}
