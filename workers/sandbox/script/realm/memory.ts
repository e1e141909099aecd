import type { Series } from "../../candle_series.ts";
import type { Layout } from "../../contracts/layout.ts";
import { type Guard, makeGuard } from "./peeks.ts";

/**
 * The memory that a realm shares with its host, and the newest candle.
 *
 * It holds candles that have not closed yet (`windows`), and a script may replace every method and getter of the language. So it is
 * made before the script's first line, and read and written by index alone: a method, even `.length`, would get hold of it.
 */
export interface Memory {
  readonly buffer: ArrayBuffer;
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  readonly bytes: Uint8Array;
  readonly windowsBuffer: ArrayBuffer;
  /** The next rows of each shown column: row `i` of window `n` is at n * rows + i % rows. Window 0 has the closes. */
  readonly windows: Float64Array;
  readonly decidedBuffer: SharedArrayBuffer;
  /** Candles of the range that the script has decided on; and its place, where it is marked (mark_places.ts). */
  readonly decided: Int32Array;
  /** The candle of the last decision; -1 before the first. */
  i: number;
  /** Candles before the range. */
  firstIndex: number;
  /** Bits of the lists that the script reads: 1 for the list of working orders, 2 for that of trades, 4 for inputs, 8 for their details, 16 for fills. */
  listBits: number;
  /** Places at which the script has read candles that have not closed, where its bits ask to look. */
  readonly peeks: string[];
  /** Members that the script has read and its objects do not have, likewise. */
  readonly unknown: string[];
  /** Null where nothing is looked at. */
  guard: Guard | null;
}

export function makeMemory({ memoryBytes, windowsMax, windowRows }: Layout): Memory {
  const buffer = new ArrayBuffer(memoryBytes);
  const windowsBuffer = new ArrayBuffer(windowsMax * windowRows * 8);
  const decidedBuffer = new SharedArrayBuffer(4 * 2);
  return {
    buffer,
    words: new Int32Array(buffer),
    doubles: new Float64Array(buffer),
    bytes: new Uint8Array(buffer),
    windowsBuffer,
    windows: new Float64Array(windowsBuffer),
    decidedBuffer,
    decided: new Int32Array(decidedBuffer),
    i: -1,
    firstIndex: 0,
    listBits: 0,
    peeks: [],
    unknown: [],
    guard: null,
  };
}

/** Makes a memory as it was, for the next script. */
export function clearMemory(memory: Memory): void {
  memory.words.fill(0);
  memory.windows.fill(0);
  memory.decided[0] = 0;
  memory.i = -1;
  memory.firstIndex =
    memory.listBits =
    memory.peeks.length =
    memory.unknown.length =
      0;
  memory.guard = null;
}

/** Looks at what the script reads, where its bits ask to. */
export function setGuard(layout: Layout, memory: Memory, bits: number): void {
  memory.guard = (bits & layout.peeksBit) === 0 ? null : makeGuard(memory.unknown, layout.peeksMax);
}

/** The candles as the strategy's function is told of them. */
export function makeSeries({ state }: Layout, memory: Memory, timeframeMs: number): Series {
  return Object.freeze({
    timeframeMs,
    get firstIndex() {
      memory.words[state.firstIndexRead >>> 2] = 1;
      return memory.firstIndex;
    },
  });
}

/** Lets the host begin again with what the script reads. */
export function want({ state }: Layout, { words }: Memory): void {
  words[state.wanted >>> 2] = 1;
}
