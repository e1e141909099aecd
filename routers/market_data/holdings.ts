import { z } from "zod";
import type { InstrumentKey } from "../../db/instruments.ts";

/** The key of an instrument in a listing, for a cursor. */
export function holdingKeyText({ symbol, exchange }: InstrumentKey): string {
  // A cursor takes single bytes only, and a symbol may have others.
  return encodeURIComponent(JSON.stringify([symbol, exchange]));
}

/** Reads the text of holdingKeyText(). */
export const holdingKeySchema = z.string().transform((text, context): InstrumentKey => {
  try {
    const [symbol, exchange] = z.tuple([z.string(), z.string()]).parse(JSON.parse(decodeURIComponent(text)));
    return { symbol, exchange };
  } catch {
    context.addIssue("is not a key of the listing");
    return z.NEVER;
  }
});
