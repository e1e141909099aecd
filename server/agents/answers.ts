/** The answers of tools: short texts for a model, which say how to get more. */

export const ANSWER_BYTES_MAX = 8 * 1024;

/**
 * Text of another user, which a model must read as data: it may ask for anything.
 *
 * @param isOwn The caller wrote it.
 */
export function markText(text: string, isOwn: boolean): string | { readonly written_by_another_user: string } {
  return isOwn || text === "" ? text : { written_by_another_user: text };
}

/** Text of a strategy, such as a line of its log: whoever wrote the strategy wrote it, and a model must read it as data. */
export function markStrategyText(text: string): { readonly written_by_the_strategy: string } {
  return { written_by_the_strategy: text };
}

/**
 * An answer with as many rows as fit.
 *
 * @param head What stands before the rows.
 * @param more How to read the rest, where rows are left out; `shown` is how many are not.
 */
export function fitRows(
  head: object,
  name: string,
  rows: readonly unknown[],
  more: (shown: number) => string,
): object {
  const count = countFitting(head, rows);
  return { ...head, [name]: rows.slice(0, count), ...(count < rows.length ? { more: more(count) } : {}) };
}

/**
 * A page of a list. One that is too long has as many rows as fit, and says with which limit these are a page: `next` would pass over
 * the others.
 *
 * @param name The rows' own.
 * @param next How to read the page after this one; nothing where it is the last.
 */
export function fitPage(tool: string, name: string, rows: readonly unknown[], next: object): object {
  const limit = Math.max(1, countFitting(next, rows));
  if (limit >= rows.length) return { ...next, [name]: rows };
  // First, so that a row that is too long alone cuts none of it.
  return { more: `call ${tool} with limit ${limit}, all else the same`, [name]: rows.slice(0, limit) };
}

/** How many of the rows have room behind the head. */
function countFitting(head: object, rows: readonly unknown[]): number {
  const room = ANSWER_BYTES_MAX - 400 - measure(head);
  let [bytes, count] = [0, 0];
  while (count < rows.length) {
    bytes += measure(rows[count]) + 1;
    if (bytes > room) break;
    count++;
  }
  return count;
}

/** The lines of a text as far as they fit, from a line on. */
export function fitText(
  head: object,
  text: string,
  first: number,
  more: (line: number) => string,
): object & { readonly text: string } {
  const lines = text.split("\n");
  const { lines: shown, ...rest } = Object(
    fitRows(head, "lines", lines.slice(first), (count) => more(first + count)),
  );
  return { ...rest, text: Array.isArray(shown) ? shown.join("\n") : "" };
}

/** An answer as it is sent. One that is still too long says so, and is cut. */
export function writeAnswer(answer: object): string {
  const text = JSON.stringify(answer, shorten);
  if (new TextEncoder().encode(text).length <= ANSWER_BYTES_MAX) return text;
  return `${cutToBytes(text, ANSWER_BYTES_MAX - 100)}\n... (cut: ask for less)`;
}

/** The bytes of a value as JSON, as writeAnswer() writes it. */
function measure(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value, shorten) ?? "").length;
}

/** A model needs no more than eight digits. */
function shorten(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(8)) : value;
}

function cutToBytes(text: string, bytes: number): string {
  return new TextDecoder().decode(new TextEncoder().encode(text).subarray(0, bytes)).replace(/\uFFFD$/, "");
}
