/**
 * Makes a text storable. A strategy's tags and messages may have zero bytes, which PostgreSQL's text refuses, and lone surrogates, which
 * its JSON refuses: each becomes U+FFFD.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}
