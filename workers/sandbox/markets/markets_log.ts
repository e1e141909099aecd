import { BoundedLog, LINE_CHARS_MAX } from "../contracts/log_bounds.ts";
import type { LoggedLines } from "../task.ts";

/** The log of a run over many markets: the lines of each in the order in which they came, behind the market's name. */
export class MarketsLog {
  readonly #log = new BoundedLog();
  readonly #report: (message: LoggedLines) => void;

  constructor(report: (message: LoggedLines) => void) {
    this.#report = report;
  }

  get lines(): readonly string[] {
    return this.#log.lines;
  }

  /** Adds lines, and reports them. @param market Its name; null where there is one alone. */
  add(market: string | null, lines: readonly string[]): void {
    const from = this.lines.length;
    for (const line of lines) this.#log.add(market === null ? line : `${market}: ${line}`.slice(0, LINE_CHARS_MAX));
    if (this.lines.length > from) this.#report({ type: "log", from, lines: this.lines.slice(from) });
  }
}
