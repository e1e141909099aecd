import { z } from "zod";
import { TIME_UNITS } from "../../market/csv/fields.ts";
import { ENCODINGS } from "../../market/csv/file_text.ts";
import { PACKINGS } from "../../market/csv/packing.ts";
import { PROGRAM_NAMES } from "../../market/csv/programs.ts";
import { COLUMN_ROLES, type ColumnRole, DATE_ORDERS, DECIMAL_MARKS } from "../../market/csv/terms.ts";
import { timeZoneSchema } from "../common/time_zone.ts";

const REQUIRED: readonly ColumnRole[] = ["time", "open", "high", "low", "close"];
const COLUMNS_LENGTH_MAX = 1_000;

const columnsSchema = z.string().max(COLUMNS_LENGTH_MAX).transform((text, check) => {
  const names = text.split(",").map((name) => name.trim());
  const roles = names.map((name) => COLUMN_ROLES.find((role) => role === name) ?? null);
  const wrong = names.find((name, i) => roles[i] === null && name !== "-");
  const missing = REQUIRED.find((role) => !roles.includes(role));
  const double = COLUMN_ROLES.find((role) => roles.indexOf(role) !== roles.lastIndexOf(role));
  if (wrong !== undefined) {
    check.addIssue(`must name each column ${COLUMN_ROLES.join(", ")} or -, not ${JSON.stringify(wrong)}`);
  } else if (missing !== undefined) check.addIssue(`must name a column ${missing}`);
  else if (double !== undefined) check.addIssue(`must name one column ${double}`);
  return roles;
});

/** The query parameters that force the reading of a file. */
export const forcedDialectShape = {
  dialect: z.enum(PROGRAM_NAMES).optional(),
  columns: columnsSchema.optional(),
  dateOrder: z.enum(DATE_ORDERS).optional(),
  decimalMark: z.enum(DECIMAL_MARKS).optional(),
  timeUnit: z.enum(TIME_UNITS).optional(),
  timezone: timeZoneSchema.optional(),
};

const nameSchema = z.string().nullable();

/** How a file was read. */
export const dialectSchema = z.object({
  name: z.enum(PROGRAM_NAMES),
  packing: z.enum(PACKINGS).nullable(),
  encoding: z.enum(ENCODINGS),
  delimiter: z.string(),
  columns: z.object({
    time: nameSchema,
    clock: nameSchema,
    open: nameSchema,
    high: nameSchema,
    low: nameSchema,
    close: nameSchema,
    volume: nameSchema,
    ticker: nameSchema,
  }),
  date_order: z.enum(DATE_ORDERS).nullable(),
  time_unit: z.enum(TIME_UNITS).nullable(),
  decimal_mark: z.enum(DECIMAL_MARKS),
  timezone: z.string(),
});
