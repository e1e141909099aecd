import type { Encoding } from "./file_text.ts";
import type { TimeUnit } from "./fields.ts";
import type { Packing } from "./packing.ts";
import type { ProgramName } from "./programs.ts";
import type { ColumnRole, DateOrder, DecimalMark } from "./terms.ts";

/** The reading that a user asks for instead of the recognised one. */
export interface ForcedDialect {
  readonly dialect?: ProgramName | undefined;
  /** The roles of the columns from left to right; null for one that is not read. */
  readonly columns?: readonly (ColumnRole | null)[] | undefined;
  readonly dateOrder?: DateOrder | undefined;
  readonly decimalMark?: DecimalMark | undefined;
  readonly timeUnit?: TimeUnit | undefined;
  /** IANA zone of times that name none; default UTC. */
  readonly timezone?: string | undefined;
}

/** The indexes of the fields that make a candle. */
export interface CsvColumns {
  readonly time: number;
  /** Of the time of day where it has a column of its own. */
  readonly clock: number | null;
  /** Of open, high, low, close and volume, in this order; -1 for the volume of a file without one. */
  readonly values: readonly number[];
  /** Of the instrument's name, where lines have one. */
  readonly ticker: number | null;
  /** The number of fields of a line. */
  readonly count: number;
  /** The file's own names by role; for a file without a header its columns counted from 1. */
  readonly names: Readonly<Record<ColumnRole, string | null>>;
}

/** How a file writes candles. */
export interface Dialect {
  readonly program: ProgramName;
  /** The byte between two fields. */
  readonly delimiter: number;
  /** The lines before the first candle. */
  readonly headerLines: number;
  readonly columns: CsvColumns;
  /** Null for times since 1970 and names of months. */
  readonly dateOrder: DateOrder | null;
  /** Null for dates. */
  readonly timeUnit: TimeUnit | null;
  /** True if the unit is the user's and not each time's own. */
  readonly isUnitForced: boolean;
  readonly decimalMark: DecimalMark;
  readonly timezone: string;
}

/** The recognised reading of a file, as an answer says it. */
export interface DialectAnswer {
  readonly name: ProgramName;
  readonly packing: Packing | null;
  readonly encoding: Encoding;
  readonly delimiter: string;
  readonly columns: Readonly<Record<ColumnRole, string | null>>;
  readonly date_order: DateOrder | null;
  readonly time_unit: TimeUnit | null;
  readonly decimal_mark: DecimalMark;
  readonly timezone: string;
}
