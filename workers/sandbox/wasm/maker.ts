import { SANDBOX_BYTES_MAX } from "../task.ts";
import type { Series } from "../candle_series.ts";
import type { CheckedModule } from "./check.ts";
import { Driver } from "./driver.ts";
import { Guest, type GuestCode, type LogLines } from "./guest.ts";
import { ModuleFault } from "./sections.ts";

// Memories below this size need no collection before the next instance.
const COLLECT_BYTES_MIN = 32 * 2 ** 20;
// The longest wait for a collection, and the pause between two looks.
const MAKE_ROOM_MS = 5000;
const PAUSE_MS = 2;

/** Makes instances of a module one after the other, each of which may have large memory. */
export class GuestMaker {
  readonly #code: GuestCode;
  readonly #bytesMax: number;
  #last: Guest | null = null;
  #waitMs = MAKE_ROOM_MS;

  /**
   * @param bytesMax Resident memory of the process.
   * @throws {ModuleFault} When the module is not valid.
   */
  constructor(checked: CheckedModule, bytesMax = SANDBOX_BYTES_MAX) {
    this.#code = { module: compile(checked), driver: new Driver() };
    this.#bytesMax = bytesMax;
  }

  /** Makes an instance; the last one must not be called any more. @throws {RunError} */
  make(parametersJson: string, series: Series, log: LogLines): Guest {
    const lastBytes = this.#last?.memory.buffer.byteLength ?? 0;
    this.#last = null;
    // After a vain wait the memory belongs to something else: do not wait again.
    if (lastBytes >= COLLECT_BYTES_MIN && !makeRoom(lastBytes, this.#bytesMax, this.#waitMs)) this.#waitMs = 0;
    return this.#last = new Guest(this.#code, parametersJson, series, log);
  }
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
