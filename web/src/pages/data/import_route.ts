import { callRest } from "../../call_rest.ts";
import type { Timeframe } from "../../parts/candle_timeframes.ts";

/** A file of candles and the instrument that they belong to. */
export interface ImportRequest {
  readonly file: File;
  readonly symbol: string;
  readonly exchange: string;
  readonly assetClass: string;
  /** Of the prices; empty for the one that is known. */
  readonly currency: string;
  /** Empty for that of the file's first lines. */
  readonly timeframe: Timeframe | "";
  /** The reading of a file that has two or is recognised wrongly; empty for the recognised one. */
  readonly dateOrder: "" | "ymd" | "dmy" | "mdy";
  readonly decimalMark: "" | "point" | "comma";
  readonly timezone: string;
  /** The program that wrote the file. */
  readonly dialect: string;
  /** The roles of the columns from left to right, separated by commas; `-` for one that is not read. */
  readonly columns: string;
  readonly timeUnit: "" | "s" | "ms" | "us" | "ns";
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
  /** Sentences about readings that may be wrong. */
  readonly warnings: readonly string[];
  readonly timeframe: Timeframe;
  /** How the file is written. */
  readonly dialect: {
    readonly name: string;
    readonly packing: string | null;
    readonly encoding: string;
    readonly delimiter: string;
    readonly columns: Readonly<Record<string, string | null>>;
    readonly date_order: string | null;
    readonly time_unit: string | null;
    readonly decimal_mark: string;
    readonly timezone: string;
  };
}

/** Archives the candles of a file; its bytes say whether it is packed. @throws RestError */
export async function importCsv({ file, ...instrument }: ImportRequest): Promise<ImportAnswer> {
  const query = new URLSearchParams(Object.entries(instrument).filter(([, value]) => value !== ""));
  return await callRest(`/api/admin/ingestion/import?${query}`, {
    method: "POST",
    headers: { "content-type": "text/csv" },
    body: file,
  });
}
