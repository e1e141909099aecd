/**
 * A text as PostgreSQL can hold it. What a strategy says of itself, tags and messages, may have a zero byte, which no text there can
 * have, and halves of surrogate pairs, which no JSON there can; each becomes U+FFFD.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
