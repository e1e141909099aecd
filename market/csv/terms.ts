/** The order of a date's numbers: year, month, day. */
export const DATE_ORDERS = ["ymd", "dmy", "mdy"] as const;
export type DateOrder = (typeof DATE_ORDERS)[number];

/** The decimal mark: 1234.5 or 1234,5. */
export const DECIMAL_MARKS = ["point", "comma"] as const;
export type DecimalMark = (typeof DECIMAL_MARKS)[number];

export const VALUE_COLUMNS = ["open", "high", "low", "close", "volume"] as const;

/** The parts of a line that are read: a date may have its time of day in a column of its own, and a line may name its instrument. */
export const COLUMN_ROLES = ["time", "clock", ...VALUE_COLUMNS, "ticker"] as const;
export type ColumnRole = (typeof COLUMN_ROLES)[number];
