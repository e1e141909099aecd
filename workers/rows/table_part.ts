import type { ArrowValues } from "./arrow_writer.ts";
import { csvText } from "./csv_text.ts";
import type { Column } from "./table_format.ts";

/** Rows by column: numbers, and times in milliseconds since 1970, may be columns of doubles. */
export interface TablePart {
  readonly length: number;
  readonly values: readonly ArrowValues[];
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

/** A line of CSV (RFC 4180; null and NaN are empty) for each row. */
export function csvLines(columns: readonly Column[], { length, values }: TablePart): string {
  const isTime = columns.map(({ kind }) => kind === "time");
  let text = "";
  for (let row = 0; row < length; row++) {
    for (let i = 0; i < values.length; i++) {
      if (i > 0) text += ",";
      text += csvText(values[i]![row], isTime[i]!);
    }
    text += "\n";
  }
  return text;
}
