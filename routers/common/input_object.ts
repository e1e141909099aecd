import { z } from "zod";

/**
 * An object of a request: unknown keys are refused by name, and null for an optional key is the same as leaving it out.
 *
 * @param shape A key that takes null with a meaning of its own keeps it.
 */
export function inputObject<Shape extends z.core.$ZodShape>(shape: Shape) {
  const object = z.strictObject(shape);
  const optional = optionalKeys(shape);
  return z.preprocess((input: z.input<typeof object>): unknown => withoutNulls(input, optional), object);
}

/** The keys of a shape that may be left out, and for which null has no meaning of its own. */
export function optionalKeys(shape: z.core.$ZodShape): ReadonlySet<string> {
  const accepts = (schema: z.core.$ZodType, value: unknown) => z.safeParse(schema, value).success;
  const entries = Object.entries(shape);
  return new Set(entries.flatMap(([key, schema]) => accepts(schema, undefined) && !accepts(schema, null) ? [key] : []));
}

/** The input without those of the keys that are null. */
export function withoutNulls(input: unknown, keys: ReadonlySet<string>): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key, value]) => value !== null || !keys.has(key)));
}
