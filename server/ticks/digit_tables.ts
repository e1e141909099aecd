/**
 * Numbers as text of four bytes, each as a little-endian word that is written in one go; what is behind the text's length is overwritten
 * by what comes next.
 */
const encoder = new TextEncoder();

/** 0 to 9999 without leading zeros. */
export const BARE = makeWords(10_000, String);
export const BARE_LENGTHS = Uint8Array.from(BARE, (_, number) => String(number).length);

/** 0 to 9999 in four digits, and how many of them are left without the zeros at the end. */
export const PADDED = makeWords(10_000, (number) => String(number).padStart(4, "0"));
export const TRIMMED_LENGTHS = Uint8Array.from(PADDED, (_, number) => trim(String(number).padStart(4, "0")).length);

/** A point and 000 to 999, and how many bytes of it are left without the zeros at the end: none of .000. */
export const POINTED = makeWords(1_000, (number) => `.${String(number).padStart(3, "0")}`);
export const POINTED_LENGTHS = Uint8Array.from(
  POINTED,
  (_, number) => number === 0 ? 0 : trim(`.${String(number).padStart(3, "0")}`).length,
);

function makeWords(count: number, textOf: (number: number) => string): Int32Array {
  const bytes = new Uint8Array(count * 4);
  for (let number = 0; number < count; number++) encoder.encodeInto(textOf(number), bytes.subarray(number * 4));
  const view = new DataView(bytes.buffer);
  return Int32Array.from({ length: count }, (_, number) => view.getInt32(number * 4, true));
}

function trim(digits: string): string {
  return digits.replace(/0+$/, "");
}
