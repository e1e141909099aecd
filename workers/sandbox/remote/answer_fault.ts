/** An invalid answer. */
export class AnswerError extends Error {
  override readonly name = "AnswerError";

  /** @param asked Number of the asked candle, from 0. @param message The end of a sentence. */
  constructor(readonly asked: number, message: string) {
    super(message);
  }
}

/** @throws {AnswerError} */
export function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    // The parser's message helps the endpoint's author, the decoder's does not.
    const reason = error instanceof SyntaxError ? error.message.slice(0, 150) : "it is not UTF-8";
    throw new AnswerError(0, `the answer is not JSON: ${reason}`);
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function show(value: unknown): string {
  if (value === undefined) return "missing";
  if (typeof value === "number") return String(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
