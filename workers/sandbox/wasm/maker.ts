import type { InputCandles } from "../../../engine/inputs.ts";
import { SANDBOX_BYTES_MAX } from "../task.ts";
import type { Series } from "../candle_series.ts";
import type { CheckedModule } from "./check.ts";
import { PAGE_BYTES, ROOM_PAGES_MAX } from "../contracts/abi.ts";
import { Driver } from "./driver.ts";
import { attempt, Guest, type GuestOutput } from "./guest.ts";
import { inputsBytes } from "./guest_inputs.ts";
import { GuestPlots } from "./guest_plots.ts";
import { ModuleFault } from "./sections.ts";
import { columnsBytes } from "./strategy.ts";

// Memories below this size need no collection before the next instance: it may have the same one.
const COLLECT_BYTES_MIN = 32 * 2 ** 20;
// The longest wait for a collection, and the pause between two looks.
const MAKE_ROOM_MS = 5000;
const PAUSE_MS = 2;
// Room for the frame, the tables and a module's own lists.
const TABLES_PAGES = 4;

/** Makes instances of a module one after the other, each of which may have large memory. */
export class GuestMaker {
  readonly #module: WebAssembly.Module;
  readonly #driver = new Driver();
  readonly #pages: { readonly min: number; readonly max: number };
  readonly #bytesMax: number;
  #memory: WebAssembly.Memory | null = null;
  #waitMs = MAKE_ROOM_MS;

  /**
   * @param bytesMax Resident memory of the process.
   * @throws {ModuleFault} When the module is not valid.
   */
  constructor(checked: CheckedModule, bytesMax = SANDBOX_BYTES_MAX, module = compile(checked)) {
    this.#module = module;
    this.#pages = { min: checked.memoryBytesMin / PAGE_BYTES, max: checked.memoryBytesMax / PAGE_BYTES };
    this.#bytesMax = bytesMax;
  }

  /**
   * Makes an instance. The last one must not be called any more.
   *
   * @param output Absent: lines and plots are not kept.
   * @param candlesCount Of the run, for which the memory has room; null: it has the pages that the module declares.
   * @param inputs Those for which it has room, too; absent: those of the series.
   * @throws {RunError}
   */
  make(
    parametersJson: string,
    series: Series,
    { log = [], plots = new GuestPlots() }: Partial<GuestOutput>,
    candlesCount: number | null = null,
    inputs = series.inputs ?? [],
  ): Guest {
    const room = candlesCount === null ? 0 : roomFor(candlesCount, inputs);
    const memory = this.#takeLast(room) ?? this.#takeNew(room);
    return new Guest({ module: this.#module, driver: this.#driver, memory }, parametersJson, series, { log, plots });
  }

  /** The memory of the last instance, emptied; null if it has another size, or is too large. */
  #takeLast(room: number): WebAssembly.Memory | null {
    const bytes = this.#memory?.buffer.byteLength ?? 0;
    const isFit = bytes === (this.#pages.min + room) * PAGE_BYTES && bytes < COLLECT_BYTES_MIN;
    if (this.#memory === null || !isFit) return null;
    new Uint8Array(this.#memory.buffer).fill(0);
    return this.#memory;
  }

  #takeNew(room: number): WebAssembly.Memory {
    const lastBytes = this.#memory?.buffer.byteLength ?? 0;
    this.#memory = null;
    // After a vain wait the memory belongs to something else: do not wait again.
    if (lastBytes >= COLLECT_BYTES_MIN && !makeRoom(lastBytes, this.#bytesMax, this.#waitMs)) this.#waitMs = 0;
    const { min, max } = this.#pages;
    return this.#memory = attempt(
      "start",
      () => new WebAssembly.Memory({ initial: min + room, maximum: max + room }),
    );
  }
}

/**
 * Pages beyond those that a module declares, both at the start and at most. With room for the columns, most modules never grow their
 * memory, so that the next instance can have it: fresh pages cost more than a trial's own work. Each run of the same candles needs as much memory as the one before.
 */
function roomFor(candlesCount: number, inputs: readonly InputCandles[]): number {
  const pages = TABLES_PAGES + Math.ceil((columnsBytes(candlesCount) + inputsBytes(inputs)) / PAGE_BYTES);
  return pages > ROOM_PAGES_MAX ? 0 : pages;
}

/** Makers of instances that live at the same time, one for each market of a run. @throws {ModuleFault} When the module is not valid. */
export function makersFor(checked: CheckedModule, markets: number, bytesMax: number): readonly GuestMaker[] {
  const module = compile(checked);
  return Array.from({ length: markets }, () => new GuestMaker(checked, bytesMax, module));
}

/** The module behind checked bytes. @throws {ModuleFault} When they are not valid. */
function compile({ bytes }: CheckedModule): WebAssembly.Module {
  try {
    return new WebAssembly.Module(bytes);
  } catch (error) {
    if (!(error instanceof WebAssembly.CompileError)) throw error;
    throw new ModuleFault(`it is not valid: ${error.message.replace(/^WebAssembly\.\w+\(\): /, "")}`);
  }
}

/**
 * Frees the last instance's memory until another of that size fits into the process. Only a garbage collection frees it, and V8
 * returns it to the system some time later, on another thread. If it does not fit, the process's memory limit ends the run.
 *
 * @returns True if it fits.
 */
function makeRoom(bytes: number, bytesMax: number, waitMs: number): boolean {
  const collect: unknown = Reflect.get(globalThis, "gc");
  if (typeof collect !== "function") return true;
  const word = new Int32Array(new SharedArrayBuffer(4));
  const until = performance.now() + waitMs;
  for (;;) {
    collect();
    if (Deno.memoryUsage().rss + bytes < bytesMax) return true;
    if (performance.now() >= until) return false;
    Atomics.wait(word, 0, 0, PAUSE_MS);
  }
}
