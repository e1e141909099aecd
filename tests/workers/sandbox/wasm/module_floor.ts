/** The least that a module's strategy takes: its own code, called over candles that its memory has already. */
import type { Candles } from "../../../../engine/candles.ts";
import { compileWat } from "./modules.ts";
import type { Series } from "../../../../workers/sandbox/candle_series.ts";
import { roundCapacity } from "../../../../workers/sandbox/player.ts";
import { FRAME, ORDER_BYTES } from "../../../../workers/sandbox/contracts/abi.ts";
import { checkModule } from "../../../../workers/sandbox/wasm/check.ts";
import { GuestMaker } from "../../../../workers/sandbox/wasm/maker.ts";

/** Calls `on_candle` for each candle, and clears the rows of its orders. */
const CALLS = new WebAssembly.Module(Uint8Array.from(compileWat(`(module
  (import "guest" "memory" (memory 0))
  (import "guest" "on_candle" (func $on_candle (param i32) (result i32)))
  (func (export "call") (param $frame i32) (param $orders i32) (param $i i32) (param $until i32)
    (local $rows i32)
    (loop $next
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (i32.store offset=${FRAME.count} (local.get $frame) (local.get $i))
      (local.set $rows (call $on_candle (local.get $frame)))
      (if (local.get $rows) (then
        (memory.fill (local.get $orders) (i32.const 0) (i32.mul (local.get $rows) (i32.const ${ORDER_BYTES})))))
      (br_if $next (i32.lt_u (local.get $i) (local.get $until))))))`)));

/** Instances of a module that are called bare. */
export class ModuleFloor {
  readonly #maker: GuestMaker;
  readonly #candles: Candles;
  readonly #series: Series;

  constructor(bytes: Uint8Array, candles: Candles, series: Series) {
    this.#maker = new GuestMaker(checkModule(bytes));
    this.#candles = candles;
    this.#series = series;
  }

  /** Makes an instance with the candles in its memory. @returns The calls. */
  prepare(parametersJson: string): () => void {
    const guest = this.#maker.make(parametersJson, this.#series, {});
    const { time, open, high, low, close, volume } = this.#candles;
    const rows = roundCapacity(time.length);
    const columnsAt = guest.allocate(6 * rows * 8 + guest.ordersMax * (ORDER_BYTES + 8));
    const ordersAt = columnsAt + 6 * rows * 8;
    const words = new Int32Array(guest.memory.buffer);
    const doubles = new Float64Array(guest.memory.buffer);
    [time, open, high, low, close, volume].forEach((column, n) => {
      doubles.set(column, columnsAt / 8 + n * rows);
      words[(guest.frame + FRAME.columns) / 4 + n] = columnsAt + n * rows * 8;
    });
    words.set([ordersAt, ordersAt + guest.ordersMax * ORDER_BYTES], (guest.frame + FRAME.ordersPointer) / 4);
    const { call } =
      new WebAssembly.Instance(CALLS, { guest: { memory: guest.memory, on_candle: guest.onCandle } }).exports;
    if (typeof call !== "function") throw new TypeError("Cannot find the function that calls");
    return () => call(guest.frame, ordersAt, guest.warmup - 1, time.length);
  }
}
