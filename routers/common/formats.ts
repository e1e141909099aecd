import { z } from "zod";
import { type Column, FORMATS } from "../../workers/rows/table_format.ts";

/** The format that a query asks for; without it, the Accept header does. */
export const formatSchema = z.enum(FORMATS).optional();

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
