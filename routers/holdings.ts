import { z } from "zod";
import type { InstrumentKey } from "../db/instruments.ts";

/** The key of an instrument in a listing, as a cursor carries it. */
export function holdingKeyText({ symbol, exchange }: InstrumentKey): string {
  // Cursors are made of single bytes, and symbols need not be.
  return encodeURIComponent(JSON.stringify([symbol, exchange]));
}

/** What holdingKeyText() made. */
export const holdingKeySchema = z.string().transform((text, context): InstrumentKey => {
  try {
    const [symbol, exchange] = z.tuple([z.string(), z.string()]).parse(JSON.parse(decodeURIComponent(text)));
    return { symbol, exchange };
  } catch {
    context.addIssue("is not a key of the listing");
    return z.NEVER;
  }
});
