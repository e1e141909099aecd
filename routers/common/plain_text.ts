import { z } from "zod";
import { mustBe } from "./errors.ts";

/** Characters that a line must not have: control characters, line breaks, and what turns the direction of the text around it. */
export const NO_LINE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
/** The same for a text of several lines. */
export const NO_TEXT = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** The refusal of such a character. */
export const PLAIN = mustBe("without control characters and without characters that change the direction of text");

/** A user's own words, trimmed and in the form NFC. */
export function plainText(refused: RegExp, lengthMax: number) {
  const normalise = (text: string) => text.replaceAll("\r\n", "\n").normalize("NFC").trim();
  return z.string().transform(normalise)
    .pipe(
      z.string().max(lengthMax).refine((text) => !refused.test(text), PLAIN),
    );
}
