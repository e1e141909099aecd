/**
 * A whole result as one text, to the last bit: numbers that differ in one bit, -0 and 0 included, give different texts.
 */
export function bytesOf(value: unknown): string {
  if (ArrayBuffer.isView(value)) {
    const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    return `${value.constructor.name}:${bytes.toHex()}`;
  }
  if (Array.isArray(value)) return `[${value.map(bytesOf).join()}]`;
  if (typeof value === "object" && value !== null) {
    return `{${Object.entries(value).map(([name, inner]) => `${name}:${bytesOf(inner)}`).join()}}`;
  }
  return Object.is(value, -0) ? "-0" : JSON.stringify(value) ?? String(value);
}
