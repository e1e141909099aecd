import { z } from "zod";

/** The formats of a table of rows. */
const FORMATS = ["json", "csv", "arrow"] as const;
export type Format = (typeof FORMATS)[number];

/** The format that a query asks for; without it, the Accept header does. */
export const formatSchema = z.enum(FORMATS).optional();

/** A column of rows, as CSV and Arrow need to know it. */
export interface Column {
  readonly name: string;
  /** Times are ISO 8601 in rows; integers have 32 bits. */
  readonly kind: "time" | "number" | "integer" | "boolean" | "text";
  readonly isNullable: boolean;
}

/** The columns of rows that have a schema: its keys, in its order. */
export function columnsOf(schema: z.ZodObject): Column[] {
  return Object.entries(schema.shape).map(([name, field]) => {
    const isNullable = field instanceof z.ZodNullable;
    return { name, kind: kindOf(isNullable ? field.unwrap() : field), isNullable };
  });
}

function kindOf(field: unknown): Column["kind"] {
  if (field instanceof z.ZodISODateTime) return "time";
  if (field instanceof z.ZodNumber) return field.isInt ? "integer" : "number";
  return field instanceof z.ZodBoolean ? "boolean" : "text";
}
