import { AppError } from "./errors.ts";

const PAGE_BYTES_MAX = 1024 * 1024;
/** Most bytes that the lists of one request's calls answer: all answers of a batch stay in memory until the last one. */
const REQUEST_BYTES_MAX = 8 * 1024 * 1024;

/** Most candles, of the market and of curves, that one request's calls read; the last call may go beyond. About four seconds of work. */
const REQUEST_CANDLES_MAX = 4_000_000;

/** The bytes that the calls of one request may still answer, the candles that they may read, and whose turn it is. */
export class AnswerBudget {
  #left = REQUEST_BYTES_MAX;
  #candlesLeft = REQUEST_CANDLES_MAX;
  #last: Promise<unknown> = Promise.resolve();

  /** The bytes that a page may have; a list is cut there. */
  get pageBytes(): number {
    return Math.max(0, Math.min(PAGE_BYTES_MAX, this.#left));
  }

  /** Counts the bytes of an answer. */
  take(bytes: number): void {
    this.#left -= bytes;
  }

  /** Counts candles that are read, whether they are answered or not. */
  takeCandles(candles: number): void {
    this.#candlesLeft -= candles;
  }

  /** @throws AppError RANGE_TOO_LARGE when earlier calls of the request have read or answered all that they may. */
  requireSome(): void {
    if (this.#left <= 0) throw tooMuch(`answer ${REQUEST_BYTES_MAX} bytes`);
    if (this.#candlesLeft <= 0) throw tooMuch(`read ${REQUEST_CANDLES_MAX} candles`);
  }

  /** Reads for one call after another, so that a batch does not read everything at once. */
  async inTurn<Read>(read: () => Promise<Read>): Promise<Read> {
    const turn = this.#last.then(read);
    this.#last = turn.catch(() => {});
    return await turn;
  }
}

function tooMuch(most: string): AppError {
  return new AppError(
    "RANGE_TOO_LARGE",
    `Cannot answer so much at once: the calls of a batch may ${most} in all; send the rest in another`,
  );
}
