import { TRADES_MAX, WORKING_MAX } from "../contracts/abi.ts";
import { CANDLE_COLUMNS } from "../contracts/layout.ts";

/** A script has read what it was not given: its run begins again, and it is given everything. */
export class MoreWanted extends Error {
  override readonly name = "MoreWanted";
}

const WORKING_BIT = 1 << CANDLE_COLUMNS.length;
const TRADES_BIT = 2 * WORKING_BIT;
/** Of inputs, the columns whose names the text has. */
const INPUTS_BIT = 2 * TRADES_BIT;
const EVERYTHING = 2 * INPUTS_BIT - 1;

/** The lists and columns that a script reads: each of them costs time at every candle. */
export class Reads {
  #bits: number;

  /** @param source Names what the script reads, unless it hides a name. */
  constructor(source: string) {
    this.#bits = (/\b(?:working|isWorking|is_working)\b/.test(source) ? WORKING_BIT : 0) |
      (/\btrades\b/.test(source) ? TRADES_BIT : 0) | (/\binputs\b/.test(source) ? INPUTS_BIT : 0);
    for (const [n, name] of CANDLE_COLUMNS.entries()) {
      if (new RegExp(`\\b${name}\\b`).test(source)) this.#bits |= 1 << n;
    }
  }

  /** A bit for each column of candles, by its number; above them one for the list of working orders, one for that of trades, and one for inputs. */
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

  /** Runs a script, and once more if it reads what its text does not name. Later runs give everything, too. */
  run<Result>(run: () => Result): Result {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof MoreWanted) || this.#bits === EVERYTHING) throw error;
      this.#bits = EVERYTHING;
      return run();
    }
  }
}
