/**
 * Makes a text storable. A strategy's tags and messages may have zero bytes, which PostgreSQL's text refuses, and lone surrogates, which
 * its JSON refuses: each becomes U+FFFD.
 */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\ufffd");
}

/** A value as JSON whose texts are storable. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // JSON escapes both kinds of characters in this way, and few others.
  if (!json.includes("\\u")) return json;
  return JSON.stringify(value, (_key, part: unknown) => typeof part === "string" ? storableText(part) : part);
}
