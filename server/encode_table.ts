import type { Column, Format } from "../workers/rows/table_format.ts";
import { type ArrowValues, ArrowWriter } from "../workers/rows/arrow_writer.ts";
import { csvText } from "../workers/rows/csv_text.ts";
import type { Pieces } from "./send_pieces.ts";

const encoder = new TextEncoder();

/** Rows by column: numbers, and times in milliseconds since 1970, may be columns of doubles. */
export interface TablePart {
  readonly length: number;
  readonly values: readonly ArrowValues[];
}

/** Writes a table as CSV (RFC 4180; null and NaN are empty) or as an Arrow IPC stream, a part at a time. */
export function writeTable(
  format: Exclude<Format, "json">,
  columns: readonly Column[],
  parts: AsyncIterable<TablePart> | Iterable<TablePart>,
): Pieces {
  return format === "csv" ? writeCsv(columns, parts) : writeArrow(columns, parts);
}

/** Rows as JSON holds them, by column. */
export function toTablePart(columns: readonly Column[], rows: readonly object[]): TablePart {
  return {
    length: rows.length,
    values: columns.map(({ name, kind }) => {
      const values = rows.map((row): unknown => Reflect.get(row, name));
      return kind === "time" ? values.map((value) => value === null ? null : Date.parse(String(value))) : values;
    }),
  };
}

async function* writeCsv(
  columns: readonly Column[],
  parts: AsyncIterable<TablePart> | Iterable<TablePart>,
): Pieces {
  yield csvHead(columns);
  const isTime = columns.map(({ kind }) => kind === "time");
  for await (const { length, values } of parts) {
    let text = "";
    for (let row = 0; row < length; row++) {
      for (let i = 0; i < values.length; i++) {
        if (i > 0) text += ",";
        text += csvText(values[i]![row], isTime[i]!);
      }
      text += "\n";
    }
    yield encoder.encode(text);
  }
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
