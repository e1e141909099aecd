import type { Db } from "../../db/client.ts";
import { ensureInstrument, type InstrumentKey, updateInstrument } from "../../db/instruments.ts";
import { missingRanges } from "../archive/held.ts";
import { createRun, executeRun } from "./ingestion_run.ts";
import { SAMPLE_INSTRUMENTS, SAMPLE_RANGE } from "../feeds/sample.ts";

/** Archives the sample instruments unless they are archived already. @returns True if it wrote anything. */
export async function archiveSample(db: Db): Promise<boolean> {
  // On one connection: where the database has few left, a start that asks for one many times waits long.
  const instruments = await db.transaction(findMissing);
  if (instruments.length === 0) return false;
  const { run } = await db.transaction((tx) => createRun(tx, { trigger: "start", instruments }));
  await executeRun(db, run.id);
  return true;
}

async function findMissing(db: Db): Promise<InstrumentKey[]> {
  const instruments: InstrumentKey[] = [];
  for (const sample of SAMPLE_INSTRUMENTS) {
    const { id, symbol, exchange, currency } = await ensureInstrument(db, sample);
    // An archive from before instruments had a currency.
    if (currency === null) await updateInstrument(db, id, { currency: sample.currency });
    const range = { start: Date.parse(sample.backfillFrom), end: SAMPLE_RANGE.end };
    const missing = await missingRanges(db, { instrumentId: id, timeframe: sample.timeframe }, range);
    if (missing.length > 0) instruments.push({ symbol, exchange });
  }
  return instruments;
}
