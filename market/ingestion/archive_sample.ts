import type { Db } from "../../db/client.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { missingRanges } from "../archive/held.ts";
import { createRun, executeRun } from "./ingestion_run.ts";
import { SAMPLE_INSTRUMENT, SAMPLE_RANGE } from "../feeds/sample.ts";

/** Archives the sample instrument unless it is archived already. @returns Whether it wrote anything. */
export async function archiveSample(db: Db): Promise<boolean> {
  const instrument = await ensureInstrument(db, SAMPLE_INSTRUMENT);
  const series = { instrumentId: instrument.id, timeframe: SAMPLE_INSTRUMENT.timeframe };
  if ((await missingRanges(db, series, SAMPLE_RANGE)).length === 0) return false;
  const key = { symbol: instrument.symbol, exchange: instrument.exchange };
  const { run } = await db.transaction((tx) => createRun(tx, { trigger: "start", instruments: [key] }));
  await executeRun(db, run.id);
  return true;
}
