/** The error of a run without candles, which says what the archive has. */
import { listChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { findInstrumentsBySymbol, type Instrument } from "../../db/instruments.ts";
import type { Timeframe } from "../../market/timeframes.ts";
import { RunError } from "../common/outcome.ts";
import type { CandlesRecord } from "./candles_record.ts";

/** @param more `hint`: for a symbol of which the archive has nothing. */
export async function noData(
  db: Db,
  record: CandlesRecord,
  { timeframe, hint = "" }: { readonly timeframe?: Timeframe; readonly hint?: string },
): Promise<RunError> {
  const candles = timeframe === undefined ? "candles" : `${timeframe} candles`;
  const range = `from ${record.startDate} to ${record.endDate}`;
  const instruments = await findInstrumentsBySymbol(db, { symbol: record.symbol });
  const held = await Promise.all(instruments.map((instrument) => describeHolding(db, instrument)));
  const available = held.length === 0
    ? `the archive has nothing of this symbol${hint === "" ? "" : `; ${hint}`}`
    : `the archive has ${held.join("; ")}`;
  return new RunError(
    "NO_DATA",
    `Cannot run on ${record.symbol} of ${record.exchange} without ${candles} ${range}: ${available}`,
  );
}

async function describeHolding(db: Db, instrument: Instrument): Promise<string> {
  const chunks = await listChunks(db, instrument.id);
  const timeframes = [...new Set(chunks.map(({ timeframe }) => timeframe))];
  if (timeframes.length === 0) return `no candles on ${instrument.exchange}`;
  const day = (times: readonly Date[], pick: (...values: number[]) => number) =>
    new Date(pick(...times.map((time) => time.getTime()))).toISOString().slice(0, 10);
  const first = day(chunks.map(({ firstTime }) => firstTime), Math.min);
  const last = day(chunks.map(({ lastTime }) => lastTime), Math.max);
  return `${timeframes.join(", ")} on ${instrument.exchange} from ${first} to ${last}`;
}
