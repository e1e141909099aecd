import { callRest } from "../../call_rest.ts";
import type { Timeframe } from "../../parts/candle_timeframes.ts";

/** A file of candles and the instrument that they belong to. */
export interface ImportRequest {
  readonly file: File;
  readonly symbol: string;
  readonly exchange: string;
  readonly assetClass: string;
  readonly timeframe: Timeframe;
}

/** The outcome of an import, in lines of the file. */
export interface ImportAnswer {
  readonly imported: number;
  readonly unchanged: number;
  readonly revised: number;
  readonly rejected_count: number;
  /** The first 100. */
  readonly rejected: readonly { readonly line: number; readonly reason: string }[];
  /** How the file stamps its candles, in words. */
  readonly convention: string | null;
}

/** Archives the candles of a CSV file. @throws RestError */
export async function importCsv({ file, ...instrument }: ImportRequest): Promise<ImportAnswer> {
  const query = new URLSearchParams(Object.entries(instrument).filter(([, value]) => value !== ""));
  return await callRest(`/api/admin/ingestion/import?${query}`, {
    method: "POST",
    headers: { "content-type": "text/csv" },
    body: file,
  });
}
