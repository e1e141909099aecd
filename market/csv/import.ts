import type { Db } from "../../db/client.ts";
import { findRun, type IngestionRun, insertEvents, insertRun } from "../../db/ingestion.ts";
import {
  type AssetClass,
  ensureInstrument,
  findInstrument,
  type Instrument,
  type NewInstrument,
  type Session,
  updateInstrument,
} from "../../db/instruments.ts";
import type { Candles } from "../../engine/candles.ts";
import type { DialectAnswer, ForcedDialect } from "./dialect.ts";
import { FileText } from "./file_text.ts";
import { CsvReader, type Rejection } from "./reader.ts";
import { type ArchiveStep, archiveStep } from "../ingestion/archive_step.ts";
import { finishRun } from "../ingestion/ingestion_run.ts";
import { candleEnd, type Timeframe } from "../timeframes.ts";

/** A file of candles and the instrument that they belong to. */
export interface CsvImport {
  readonly symbol: string;
  readonly exchange: string;
  /** Required for a new instrument. */
  readonly assetClass?: AssetClass | undefined;
  /** Default: that of the file's first lines. */
  readonly timeframe?: Timeframe | undefined;
  /** Of a new instrument; default: that of its exchange or asset class. */
  readonly session?: Session | undefined;
  /** In which the prices are; default: the account's. */
  readonly currency?: string | undefined;
  /** The reading to use instead of the recognised one. */
  readonly forced?: ForcedDialect;
  /** A text of UTF-8 or UTF-16, or one packed with gzip or zip. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The largest size of a file, packed and unpacked. */
  readonly bytesMax: number;
  /** Milliseconds since 1970; default the clock. */
  readonly now?: number;
}

/** The outcome of an import, in lines. */
export interface CsvImportResult {
  readonly run: IngestionRun;
  readonly timeframe: Timeframe;
  readonly imported: number;
  readonly unchanged: number;
  readonly revised: number;
  readonly rejectedCount: number;
  /** The first 100. */
  readonly rejected: readonly Rejection[];
  /** How the file stamps its candles, in words; null without a candle. */
  readonly convention: string | null;
  /** Sentences about readings that may be wrong. */
  readonly warnings: readonly string[];
  /** How the file is written. */
  readonly dialect: DialectAnswer;
}

/** The named instrument cannot take the candles. */
export class ImportRefusedError extends Error {
  override readonly name = "ImportRefusedError";
  constructor(readonly field: "assetClass" | "exchange" | "currency", readonly reason: string) {
    super(`Cannot import: ${field} ${reason}`);
  }
}

/**
 * Archives the candles of a CSV file as it arrives; each batch is a transaction with its event. A bad line does not affect the others, and
 * a second import of the same file changes nothing.
 *
 * @throws {CsvError} When the file is empty or unreadable; batches before the error stay archived.
 * @throws {ImportRefusedError | ImportTooLargeError}
 */
export async function importCsv(db: Db, request: CsvImport): Promise<CsvImportResult> {
  const target = await findTarget(db, request);
  const { provider } = target;
  const text = new FileText(request.body, request.bytesMax);
  const reader = new CsvReader(request.timeframe ?? null, request.now ?? Date.now(), target, request.forced);
  const counts = { imported: 0, unchanged: 0, revised: 0 };
  const { symbol, exchange } = request;
  let run: IngestionRun | undefined;
  let instrument: Instrument | undefined;
  let storing: Promise<void> | undefined;
  const store = async (step: ArchiveStep) => {
    const stored = await db.transaction((tx) => archiveStep(tx, step));
    counts.imported += stored.imported;
    counts.unchanged += stored.unchanged;
    counts.revised += stored.revised;
  };
  try {
    for await (const candles of readBatches(reader, text)) {
      run ??= await beginRun(db, request);
      instrument ??= await ensureTarget(db, target);
      const { timeframe } = reader;
      // The next batch is read meanwhile.
      await storing;
      storing = store({ runId: run.id, instrument, provider, timeframe, candles, ...stretchOf(candles, timeframe) });
      storing.catch(() => {});
    }
    await storing;
    run ??= await beginRun(db, request);
    const { rejected, rejectedCount, convention, timeframe } = reader;
    const [first] = rejected;
    if (first !== undefined) {
      const message = `${rejectedCount} lines; the first: line ${first.line} ${first.reason}`;
      await insertEvents(db, [
        { runId: run.id, type: "rejected", symbol, exchange, timeframe, candles: rejectedCount, message },
      ]);
    }
    await finishRun(db, run.id, null);
    const dialect = describeDialect(text, reader);
    return {
      run: await findRun(db, run.id) ?? run,
      timeframe,
      ...counts,
      rejectedCount,
      rejected,
      convention,
      warnings: reader.zoneHint === undefined ? [] : [reader.zoneHint],
      dialect,
    };
  } catch (error) {
    await storing?.catch(() => {});
    if (run !== undefined) {
      const message = error instanceof Error ? error.message : String(error);
      await insertEvents(db, [{
        runId: run.id,
        type: "failed",
        symbol,
        exchange,
        timeframe: reader.timeframe,
        message,
      }]);
      await finishRun(db, run.id, message);
    }
    throw error;
  }
}

async function* readBatches(reader: CsvReader, text: FileText): AsyncGenerator<Candles> {
  for await (const piece of text.pieces()) yield* reader.push(piece);
  yield* reader.end();
}

/** The reading of a file, as an answer says it. */
export function describeDialect({ packing, encoding }: FileText, reader: CsvReader): DialectAnswer {
  const { program, delimiter, columns, dateOrder, timeUnit, decimalMark, timezone } = reader.dialect;
  return {
    name: program,
    packing,
    encoding,
    delimiter: String.fromCharCode(delimiter),
    columns: columns.names,
    date_order: dateOrder,
    time_unit: timeUnit,
    decimal_mark: decimalMark,
    timezone,
  };
}

/** The instrument of the target; one whose currency was unknown has the target's from now on. */
async function ensureTarget(db: Db, target: Omit<NewInstrument, "id">): Promise<Instrument> {
  const instrument = await ensureInstrument(db, target);
  if (instrument.currency !== null || (target.currency ?? null) === null) return instrument;
  return await updateInstrument(db, instrument.id, { currency: target.currency ?? null }) ?? instrument;
}

async function findTarget(db: Db, { symbol, exchange, assetClass, session, currency }: CsvImport) {
  const held = await findInstrument(db, { symbol, exchange });
  if (held?.provider === "sample") {
    throw new ImportRefusedError("exchange", `${exchange} has ${symbol} as generated sample data: choose another name`);
  }
  if (held !== undefined && assetClass !== undefined && held.assetClass !== assetClass) {
    throw new ImportRefusedError(
      "assetClass",
      `must be ${held.assetClass} for ${symbol} on ${exchange}, not ${assetClass}`,
    );
  }
  const heldCurrency = held?.currency ?? null;
  if (heldCurrency !== null && currency !== undefined && heldCurrency !== currency) {
    throw new ImportRefusedError(
      "currency",
      `must be ${heldCurrency} for ${symbol} on ${exchange}, not ${currency}: change the instrument first`,
    );
  }
  const known = held?.assetClass ?? assetClass;
  if (known === undefined) {
    throw new ImportRefusedError("assetClass", `is required: ${symbol} on ${exchange} is a new instrument`);
  }
  return {
    symbol,
    exchange,
    assetClass: known,
    provider: "import",
    session: held?.session ?? session ?? null,
    currency: heldCurrency ?? currency ?? null,
  } as const;
}

async function beginRun(db: Db, { symbol, exchange }: CsvImport): Promise<IngestionRun> {
  return await db.transaction(async (tx) => {
    const instruments = [{ symbol, exchange }];
    const run = await insertRun(tx, { status: "running", trigger: "import", instruments, startedAt: new Date() });
    await insertEvents(tx, [{ runId: run.id, type: "run_started", symbol, exchange }]);
    return run;
  });
}

function stretchOf({ time }: Candles, timeframe: Timeframe): { start: number; end: number } {
  return { start: time[0]!, end: candleEnd(time[time.length - 1]!, timeframe) };
}
