/** A module that plays a test's script, candle by candle, and records its input. */
import { run, type RunResult } from "../../../engine/run.ts";
import { ACTION, ORDER, ORDER_BYTES } from "../../../workers/sandbox/contracts/abi.ts";
import { checkModule } from "../../../workers/sandbox/wasm/check.ts";
import { GuestMaker } from "../../../workers/sandbox/wasm/maker.ts";
import { GuestStrategy } from "../../../workers/sandbox/wasm/strategy.ts";
import { compileWat, dailyCandles, DAYS, strategyWat, taskOver } from "./wasm/modules.ts";

const SCRIPT_AT = 4096;
const ROWS_MAX = 4;
const SCRIPT_BYTES = 8 + ROWS_MAX * ORDER_BYTES;
const SEEN_AT = 1_048_576;
const SEEN_BYTES = 128;

/** Fields of a row by the names of wasm/abi.ts. An absent field is zero; an absent `action` is "place". */
export type Row = { readonly [Field in keyof Omit<typeof ORDER, "action">]?: number } & {
  readonly action?: keyof typeof ACTION | number;
};

/** The module's input at one candle. */
export interface Seen {
  readonly results: readonly number[];
  readonly trades: readonly { readonly number: number; readonly quantity: number; readonly entryPrice: number }[];
  readonly working: readonly number[];
}

const PUPPET = compileWat(strategyWat({
  before: "(global $call (mut i32) (i32.const 0))",
  init: `(i32.store offset=24 (local.get $frame) (i32.const 2))
    (i32.store offset=28 (local.get $frame) (i32.const 4))
    (i32.const 0)`,
  locals: "(local $script i32) (local $seen i32) (local $rows i32)",
  onCandle: `
    (local.set $script (i32.add (i32.const ${SCRIPT_AT}) (i32.mul (global.get $call) (i32.const ${SCRIPT_BYTES}))))
    (local.set $seen (i32.add (i32.const ${SEEN_AT}) (i32.mul (global.get $call) (i32.const ${SEEN_BYTES}))))
    (global.set $call (i32.add (global.get $call) (i32.const 1)))
    (i32.store (local.get $seen) (i32.load offset=76 (local.get $frame)))
    (i32.store offset=4 (local.get $seen) (i32.load offset=88 (local.get $frame)))
    (i32.store offset=8 (local.get $seen) (i32.load offset=92 (local.get $frame)))
    (memory.copy (i32.add (local.get $seen) (i32.const 16)) (i32.load offset=60 (local.get $frame)) (i32.const 16))
    (memory.copy (i32.add (local.get $seen) (i32.const 32)) (i32.load offset=64 (local.get $frame)) (i32.const 48))
    (memory.copy (i32.add (local.get $seen) (i32.const 80)) (i32.load offset=68 (local.get $frame)) (i32.const 16))
    (local.set $rows (i32.load (local.get $script)))
    (memory.copy (local.get $order) (i32.add (local.get $script) (i32.const 8)) (i32.mul (local.get $rows) (i32.const ${ORDER_BYTES})))
    (local.get $rows)`,
}));

/** Runs a script, one list of rows for each candle, over candles with these closes. Text lies in memory at 256. */
export function play(
  script: readonly (readonly Row[])[],
  closes: readonly number[],
  text = "",
): { readonly result: RunResult; readonly seen: readonly Seen[] } {
  const guest = new GuestMaker(checkModule(PUPPET)).make("{}", DAYS, {});
  const view = new DataView(guest.memory.buffer);
  new Uint8Array(guest.memory.buffer).set(new TextEncoder().encode(text), 256);
  script.forEach((rows, call) => writeRows(view, SCRIPT_AT + call * SCRIPT_BYTES, rows));
  const strategy = new GuestStrategy(() => guest, 1);
  const result = run({ ...taskOver(dailyCandles(closes)), strategy, control: null });
  return { result, seen: closes.map((_, call) => readSeen(view, SEEN_AT + call * SEEN_BYTES)) };
}

function writeRows(view: DataView, at: number, rows: readonly Row[]): void {
  view.setUint32(at, rows.length, true);
  rows.forEach(({ action = "place", ...fields }, n) => {
    const row = at + 8 + n * ORDER_BYTES;
    view.setInt32(row, typeof action === "number" ? action : ACTION[action], true);
    for (const [name, value] of Object.entries(fields)) {
      const offset = offsetOf(name);
      if (offset >= ORDER.size && offset <= ORDER.trailFraction) view.setFloat64(row + offset, value, true);
      else view.setInt32(row + offset, value, true);
    }
  });
}

function offsetOf(name: string): number {
  for (const [field, offset] of Object.entries(ORDER)) if (field === name) return offset;
  throw new RangeError(`There is no field ${name}`);
}

function readSeen(view: DataView, at: number): Seen {
  const list = <Item>(count: number, read: (n: number) => Item) => Array.from({ length: count }, (_, n) => read(n));
  return {
    results: list(view.getUint32(at, true), (n) => view.getInt32(at + 16 + 4 * n, true)),
    trades: list(view.getUint32(at + 4, true), (n) => ({
      number: view.getInt32(at + 32 + 24 * n, true),
      quantity: view.getFloat64(at + 40 + 24 * n, true),
      entryPrice: view.getFloat64(at + 48 + 24 * n, true),
    })),
    working: list(view.getUint32(at + 8, true), (n) => view.getInt32(at + 80 + 4 * n, true)),
  };
}
