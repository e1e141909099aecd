/** The curve of a chunk, read back from its bytes. */
import { unpackEquity } from "./marked_equity.ts";
import type { EquityColumns } from "./result_parts.ts";
import type { ResultRows } from "./result_rows.ts";
import { requireColumn } from "./unreadable.ts";

/** The columns of a decoded chunk of equity; they may be those of the chunk. @throws {Error} Where one is missing. */
export function curveOf({ columns }: Pick<ResultRows, "columns">): EquityColumns {
  const unpacked = unpackEquity(columns);
  const column = (name: keyof EquityColumns) => requireColumn(unpacked, name);
  return { time: column("time"), equity: column("equity"), position: column("position") };
}
