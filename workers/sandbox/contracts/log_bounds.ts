/** Bounds of the lines that a strategy logs. Whoever receives lines counts them again: a strategy may have taken its realm over. */

/** Characters of a line, of UTF-16. */
export const LINE_CHARS_MAX = 1024;
/** Lines of a script; a module has fewer (wasm/abi.ts). */
export const LOG_LINES_MAX = 1000;
/** Of all lines together, in UTF-8. */
export const LOG_BYTES_MAX = 2 ** 20 - 2 ** 14;
/** Lines of the stack of the error that ended a run, behind those of its log, and their characters. */
export const STACK_LINES_MAX = 50;
export const STACK_CHARS_MAX = 4096;

const STORED_LINES_MAX = LOG_LINES_MAX + STACK_LINES_MAX;
export const STORED_BYTES_MAX = LOG_BYTES_MAX + 3 * (STACK_CHARS_MAX + STACK_LINES_MAX * 4);

const UTF8 = new TextEncoder();
const FULL = `further lines are dropped: a run keeps ${LOG_BYTES_MAX} bytes`;

/** Keeps the first lines of a log, up to its bounds. */
export class BoundedLog {
  readonly lines: string[] = [];
  #bytes = 0;
  #isFull = false;

  /** Keeps a line if there is room for it: once a line finds none, none behind it is kept. */
  add(line: string): void {
    if (this.#isFull || this.lines.length >= LOG_LINES_MAX) return;
    this.#bytes += countBytes(line);
    this.#isFull = this.#bytes > LOG_BYTES_MAX - FULL.length;
    this.lines.push(this.#isFull ? FULL : line);
  }
}

/** A log that is reported in parts. */
export class ReportedLog {
  #log = new BoundedLog();

  get lines(): readonly string[] {
    return this.#log.lines;
  }

  /** Takes lines from a number on: those that were reported from there on before are void, as the run has begun again. */
  take({ from, lines }: { readonly from: number; readonly lines: readonly string[] }): void {
    const kept = this.#log.lines.slice(0, from);
    if (kept.length === this.#log.lines.length) return lines.forEach((line) => this.#log.add(line));
    this.#log = new BoundedLog();
    for (const line of [...kept, ...lines]) this.#log.add(line);
  }
}

function countBytes(text: string): number {
  return UTF8.encode(text).length;
}

/** True for lines that a log may have, with those of a stack behind them. Nothing is copied. */
export function isStoredLog(value: unknown): value is readonly string[] {
  if (!Array.isArray(value) || value.length > STORED_LINES_MAX) return false;
  if (!value.every((line) => typeof line === "string" && line.length <= LINE_CHARS_MAX)) return false;
  return value.reduce((bytes: number, line: string) => bytes + countBytes(line), 0) <= STORED_BYTES_MAX;
}
