/** Words that a run and whoever watches it share, best in shared memory: a wish to stop, how far the run is, and its equity there. */

const STOP = 0;
const CANDLES_DONE = 1;
// Two words: the bits of a 64-bit float.
const EQUITY_BYTE = 8;
const BYTES = 16;
// In the place of the candles while the equity is written, so that no one reads the equity of other candles.
const WRITING = -1;

/** How far a run is. */
export interface RunProgress {
  /** Of the range, from its first. */
  readonly candlesDone: number;
  /** Money at the close of the last of them; NaN where that is not known. */
  readonly equity: number;
}

/** Control words that another thread can be given. */
export function createControl(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(BYTES));
}

/** Asks the run to stop, as soon as it looks. */
export function askToStop(control: Int32Array): void {
  Atomics.store(control, STOP, 1);
}

export function isAskedToStop(control: Int32Array): boolean {
  return Atomics.load(control, STOP) !== 0;
}

export function writeProgress(control: Int32Array, { candlesDone, equity }: RunProgress): void {
  Atomics.store(control, CANDLES_DONE, WRITING);
  equityOf(control)[0] = equity;
  Atomics.store(control, CANDLES_DONE, candlesDone);
}

/** How far the run is; null where it is just writing that. */
export function readProgress(control: Int32Array): RunProgress | null {
  const candlesDone = Atomics.load(control, CANDLES_DONE);
  const equity = equityOf(control)[0]!;
  const isWhole = candlesDone !== WRITING && Atomics.load(control, CANDLES_DONE) === candlesDone;
  return isWhole ? { candlesDone, equity: candlesDone === 0 ? NaN : equity } : null;
}

function equityOf({ buffer, byteOffset }: Int32Array): Float64Array {
  return new Float64Array(buffer, byteOffset + EQUITY_BYTE, 1);
}
