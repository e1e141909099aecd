/** The functions that a module imports. */
import { LOG_LINES_MAX, MESSAGE_BYTES_MAX } from "../contracts/abi.ts";
import type { GuestPlots } from "./guest_plots.ts";
import type { LogLines } from "./log_lines.ts";
import { Zones } from "./zones.ts";

const OUTSIDE = "(a message outside its memory)";

/** Reads a text of the module. */
export type ReadText = (pointer: number, byteLength: number | null, encoding: "utf-8" | "utf-16le") => string;

/** The functions of `env` besides `input`. */
export function makeImports(
  read: ReadText,
  abort: (message: string) => never,
  log: LogLines,
): WebAssembly.ModuleImports {
  return {
    // The number of arguments tells AssemblyScript's `abort` from the other.
    abort: (...args: number[]) => {
      const [pointer = 0, second = 0, line = 0, column = 0] = args;
      if (args.length < 4) abort(read(pointer, second, "utf-8"));
      const file = read(second, null, "utf-16le");
      abort(`${read(pointer, null, "utf-16le")} (${file}:${line}:${column})`);
    },
    log: (pointer: number, byteLength: number) => {
      if (log.length < LOG_LINES_MAX) log.push(read(pointer, byteLength, "utf-8"));
    },
  };
}

/** A function of `env` that finds something by a name. @param find Its RangeError, the end of a sentence, ends the run. */
export function makeAsk(read: ReadText, abort: (message: string) => never, find: (name: string) => number) {
  return (pointer: number, byteLength: number): number =>
    orAbort(abort, () => find(readName(read, pointer, byteLength)));
}

/** @throws {RangeError} When it is outside of the memory. */
function readName(read: ReadText, pointer: number, byteLength: number): string {
  const name = byteLength === 0 ? "" : read(pointer, byteLength, "utf-8");
  if (name === OUTSIDE) {
    throw new RangeError(`the name at ${pointer >>> 0} of ${byteLength >>> 0} bytes is outside of its memory`);
  }
  return name;
}

/** Ends the run with the message of a RangeError. */
function orAbort<Value>(abort: (message: string) => never, call: () => Value): Value {
  try {
    return call();
  } catch (error) {
    if (error instanceof RangeError) return abort(error.message);
    throw error;
  }
}

/** `env.zone` and `env.zone_offset`. */
export function makeZones(read: ReadText, abort: (message: string) => never): WebAssembly.ModuleImports {
  const zones = new Zones();
  return {
    zone: makeAsk(read, abort, (name) => zones.open(name)),
    zone_offset: (zone: number, time: number) => orAbort(abort, () => zones.offsetAt(zone, time)),
  };
}

/** `env.plot` and `env.draw`. */
export function makePlots(
  read: ReadText,
  abort: (message: string) => never,
  plots: GuestPlots,
): WebAssembly.ModuleImports {
  return {
    plot: (pointer: number, byteLength: number, pane: number, paneBytes: number) =>
      orAbort(abort, () => plots.ask(readName(read, pointer, byteLength), readName(read, pane, paneBytes))),
    draw: (plot: number, value: number) => orAbort(abort, () => plots.draw(plot, value)),
  };
}

/** A message of the module; with `byteLength` null an AssemblyScript string, whose length precedes it. */
export function readText(
  memory: WebAssembly.Memory,
  pointer: number,
  byteLength: number | null,
  encoding: "utf-8" | "utf-16le",
): string {
  const begin = pointer >>> 0;
  const { buffer } = memory;
  if (byteLength === null && (begin < 4 || begin > buffer.byteLength)) return begin === 0 ? "" : OUTSIDE;
  const length = (byteLength ?? new DataView(buffer).getUint32(begin - 4, true)) >>> 0;
  if (begin + length > buffer.byteLength) return OUTSIDE;
  const text = new TextDecoder(encoding).decode(new Uint8Array(buffer, begin, Math.min(length, MESSAGE_BYTES_MAX)));
  return text.replace(/\p{Cc}/gu, " ");
}
