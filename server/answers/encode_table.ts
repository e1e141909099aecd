import type { Column, Format } from "../../workers/rows/table_format.ts";
import { ArrowWriter } from "../../workers/rows/arrow_writer.ts";
import { csvText } from "../../workers/rows/csv_text.ts";
import { csvLines, type TablePart } from "../../workers/rows/table_part.ts";
import type { Pieces } from "./send_pieces.ts";

const encoder = new TextEncoder();

/** Writes a table as CSV (RFC 4180; null and NaN are empty) or as an Arrow IPC stream, a part at a time. */
export function writeTable(
  format: Exclude<Format, "json">,
  columns: readonly Column[],
  parts: AsyncIterable<TablePart> | Iterable<TablePart>,
): Pieces {
  return format === "csv" ? writeCsv(columns, parts) : writeArrow(columns, parts);
}

async function* writeCsv(
  columns: readonly Column[],
  parts: AsyncIterable<TablePart> | Iterable<TablePart>,
): Pieces {
  yield csvHead(columns);
  for await (const part of parts) yield encoder.encode(csvLines(columns, part));
}

function csvHead(columns: readonly Column[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(`${columns.map(({ name }) => csvText(name, false)).join(",")}\n`);
}

/** The same of rows that are written already: the head of a table, the rows, its end. */
export async function* frameTable(format: Exclude<Format, "json">, columns: readonly Column[], rows: Pieces): Pieces {
  try {
    const arrow = format === "arrow" ? new ArrowWriter(columns, {}) : null;
    yield arrow === null ? csvHead(columns) : arrow.start();
    yield* rows;
    if (arrow !== null) yield arrow.end();
  } finally {
    await rows.return(undefined);
  }
}

async function* writeArrow(
  columns: readonly Column[],
  parts: AsyncIterable<TablePart> | Iterable<TablePart>,
): Pieces {
  const writer = new ArrowWriter(columns, {});
  yield writer.start();
  for await (const { length, values } of parts) yield writer.batch(length, values);
  yield writer.end();
}
