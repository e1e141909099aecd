/** Words that a run and its watcher share, best in shared memory: a request to stop, and the run's progress with its equity. */

const STOP = 0;
const CANDLES_DONE = 1;
// Two words: the bits of a 64-bit float.
const EQUITY_BYTE = 8;
const BYTES = 16;
// Stands in CANDLES_DONE while the equity is written, so that nobody reads the equity of other candles.
const WRITING = -1;
/** Candles between two reads of these words: a power of two. */
const CANDLES_PER_LOOK = 1024;

export interface RunProgress {
  /** Candles of the range, from its first. */
  readonly candlesDone: number;
  /** Money at the close of the last of them; NaN while unknown. */
  readonly equity: number;
}

/** Creates control words that can be shared with another thread. */
export function createControl(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(BYTES));
}

/** The first candle from `i` on after which a run reads its control words. */
export function nextLook(i: number): number {
  return (i + CANDLES_PER_LOOK - 1) & -CANDLES_PER_LOOK;
}

/** Asks the run to stop at its next look. */
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

/** Reads the progress; null while the run is writing it. */
export function readProgress(control: Int32Array): RunProgress | null {
  const candlesDone = Atomics.load(control, CANDLES_DONE);
  const equity = equityOf(control)[0]!;
  const isWhole = candlesDone !== WRITING && Atomics.load(control, CANDLES_DONE) === candlesDone;
  return isWhole ? { candlesDone, equity: candlesDone === 0 ? NaN : equity } : null;
}

function equityOf({ buffer, byteOffset }: Int32Array): Float64Array {
  return new Float64Array(buffer, byteOffset + EQUITY_BYTE, 1);
}
