import type { Column, Format } from "../routers/common/formats.ts";
import { type ArrowValues, ArrowWriter } from "./arrow_writer.ts";
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
  yield encoder.encode(`${columns.map(({ name }) => csvText(name, false)).join(",")}\n`);
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

function csvText(value: unknown, isTime: boolean): string {
  if (value === null || Number.isNaN(value)) return "";
  if (isTime) return new Date(Number(value)).toISOString();
  if (typeof value !== "string") return String(value);
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
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
