/** Decides on many candles in one call: WebAssembly calls WebAssembly at a fraction of what a call from JavaScript costs. */
import type { Candles } from "../../../engine/candles.ts";
import { DRIVER_BYTES } from "./driver_bytes.ts";

/** Rows of each column that the driver holds before they are shown: a power of two. */
export const WINDOW_ROWS = 1024;

/** Byte offsets in the driver's memory, which no guest can reach. The windows of time, open, high, low, close and volume end it. */
export const STATE = {
  /** 1 once the guest has called `abort`. */
  aborted: 0,
  /** Rows of the last decision. */
  rows: 4,
  workingOrders: 8,
  openTrades: 12,
  tradesCount: 16,
  workingCount: 20,
  cash: 24,
  quantity: 32,
  entryPrice: 40,
  initialBalance: 48,
  /** Addresses in the guest's memory: of the frame, and of the six columns. */
  frame: 56,
  columns: 60,
  firstIndex: 84,
  windows: 128,
} as const;

const COLUMNS = 6;
const MODULE = new WebAssembly.Module(Uint8Array.fromBase64(DRIVER_BYTES));
const SHARED = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });

/** Shared memory whose first word counts the candles of the range that a guest of this thread has decided on. */
export const DECIDED = SHARED.buffer;
const DECIDED_WORDS = new Int32Array(DECIDED);

/** The parts of a guest that the driver uses. */
export interface DrivenGuest {
  readonly memory: WebAssembly.Memory;
  readonly onCandle: (frame: number) => number;
  readonly frame: number;
  readonly firstIndex: number;
}

/**
 * Decides on the candles from `i` on and before `until`, up to the first with orders, a failure or an abort. It shows each candle to the
 * guest after its close.
 *
 * @param until At most the end of the filled windows.
 * @returns The first candle that is not decided on.
 */
type Decide = (i: number, until: number) => number;

/** The driver of the guests that one maker makes, one after the other. */
export class Driver {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
  /** The windows hold the rows before this one. */
  filled = 0;
  readonly #memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });

  constructor() {
    this.words = new Int32Array(this.#memory.buffer);
    this.doubles = new Float64Array(this.#memory.buffer);
  }

  /** Ends the present call after this candle. */
  stop(): void {
    this.words[STATE.aborted / 4] = 1;
  }

  /** @param columns Addresses of time, open, high, low, close and volume in the guest's memory. */
  connect({ memory, onCandle, frame, firstIndex }: DrivenGuest, columns: readonly number[]): Decide {
    const { words } = this;
    words.fill(0, 0, STATE.windows / 4);
    words[STATE.frame / 4] = frame;
    words.set(columns, STATE.columns / 4);
    words[STATE.firstIndex / 4] = firstIndex;
    this.filled = 0;
    const { exports } = new WebAssembly.Instance(MODULE, {
      guest: { memory, on_candle: onCandle },
      host: { memory: this.#memory, shared: SHARED },
    });
    const { decide } = exports;
    if (!isDecide(decide)) throw new TypeError("Cannot find the driver's function");
    return decide;
  }

  /** Fills the windows with the rows around candle `i`. */
  fill({ time, open, high, low, close, volume }: Candles, i: number): void {
    const from = i - i % WINDOW_ROWS;
    this.filled = from + WINDOW_ROWS;
    const columns = [time, open, high, low, close, volume];
    for (let n = 0; n < COLUMNS; n++) {
      this.doubles.set(columns[n]!.subarray(from, this.filled), STATE.windows / 8 + n * WINDOW_ROWS);
    }
  }

  /** The candle whose decision began last in this thread. */
  get deciding(): number {
    return DECIDED_WORDS[0]! + this.words[STATE.firstIndex / 4]!;
  }
}

function isDecide(value: unknown): value is Decide {
  return typeof value === "function";
}
