import { TRADES_MAX, WORKING_MAX } from "../contracts/abi.ts";
import { CANDLE_COLUMNS } from "../contracts/layout.ts";
import { brokenRealm } from "./realm_answers.ts";

/** A script has read what it was not given: its run begins again, and it is given everything. */
export class MoreWanted extends Error {
  override readonly name = "MoreWanted";
}

const WORKING_BIT = 1 << CANDLE_COLUMNS.length;
const TRADES_BIT = 2 * WORKING_BIT;
/** Of inputs, the columns whose names the text has. */
const INPUTS_BIT = 2 * TRADES_BIT;
/** Of trades, what changes with each candle; and fills. */
const DETAILS_BIT = 2 * INPUTS_BIT;
const FILLS_BIT = 2 * DETAILS_BIT;
const EVERYTHING = 2 * FILLS_BIT - 1;
const DETAIL_NAMES =
  "(?:order|tag|entry_?[iI]ndex|entry_?[tT]ime|stop_?[lL]oss|take_?[pP]rofit|trailing_?[sS]top|profit|best_?[pP]rice|worst_?[pP]rice)";
/**
 * A detail that is read: behind a dot, or among the names that a pattern takes apart; and trades that are copied whole. Options of
 * orders, parameters and a strategy's own variables have the same names, and read none.
 */
const DETAILS = new RegExp(
  [
    `(?<!\\b(?:this|self))\\.\\s*${DETAIL_NAMES}\\b`,
    `(?<!\\b(?:strategy|portfolio)\\s*\\(\\s*\\()\\{[^{}]{0,400}\\b${DETAIL_NAMES}\\b[^{}]{0,400}\\}\\s*` +
    "(?:=(?!=)|of\\b|\\)\\s*=>|,[^()]{0,400}\\)\\s*=>)",
    "\\bObject\\s*\\.\\s*(?:keys|values|entries|assign)\\b",
    "\\{[^{}()]{0,400}\\.\\.\\.",
  ].join("|"),
);
const FILLS = /\b(?:on_?[fF]ill|on_?[cC]lose|closed_?[tT]rades)\b/;

/** The lists and columns that a script reads: each of them costs time at every candle. */
export class Reads {
  #bits: number;

  /** @param source Names what the script reads, unless it hides a name. */
  constructor(source: string) {
    this.#bits = (/\b(?:working|isWorking|is_working)\b/.test(source) ? WORKING_BIT : 0) |
      (/\btrades\b/.test(source) ? TRADES_BIT : 0) | (/\binputs\b/.test(source) ? INPUTS_BIT : 0);
    if (/\btrades\b/.test(source) && DETAILS.test(source)) this.#bits |= DETAILS_BIT;
    if (FILLS.test(source)) this.#bits |= FILLS_BIT;
    // The best and the worst price of a trade are found in them.
    const needed = (this.#bits & DETAILS_BIT) === 0 ? [] : ["high", "low", "close"];
    for (const [n, name] of CANDLE_COLUMNS.entries()) {
      if (needed.includes(name) || new RegExp(`\\b${name}\\b`).test(source)) this.#bits |= 1 << n;
    }
  }

  /** A bit for each column of candles, by its number; above them one each for the list of working orders, that of trades, inputs, the details of trades, and fills. */
  get bits(): number {
    return this.#bits;
  }

  /** Rows of the lists that are kept. */
  get listsMax(): { readonly workingMax: number; readonly tradesMax: number } {
    const has = (bit: number) => (this.#bits & bit) !== 0;
    return {
      workingMax: has(WORKING_BIT) ? WORKING_MAX.limit : 0,
      tradesMax: has(TRADES_BIT) ? TRADES_MAX.limit : 0,
    };
  }

  get hasDetails(): boolean {
    return (this.#bits & DETAILS_BIT) !== 0;
  }

  get hasFills(): boolean {
    return (this.#bits & FILLS_BIT) !== 0;
  }

  /**
   * Runs a script, and once more if it reads what its text does not name. Later runs give everything, too.
   *
   * @throws {RunError} When its realm still wants more.
   */
  run<Result>(run: () => Result): Result {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof MoreWanted)) throw error;
      if (this.#bits === EVERYTHING) throw brokenRealm("it wants more than there is");
      this.#bits = EVERYTHING;
      return this.run(run);
    }
  }
}
