/** The formats of a table of rows. */
export const FORMATS = ["json", "csv", "arrow"] as const;
export type Format = (typeof FORMATS)[number];

/** A column of rows, as CSV and Arrow need to know it. */
export interface Column {
  readonly name: string;
  /** Times are ISO 8601 in rows; integers have 32 bits. */
  readonly kind: "time" | "number" | "integer" | "boolean" | "text";
  readonly isNullable: boolean;
}
