/** Instances of a module, one after the other. */
import { expect } from "@std/expect";
import { createControl } from "../../../../engine/control.ts";
import { PAGE_BYTES } from "../../../../workers/sandbox/contracts/abi.ts";
import { checkModule } from "../../../../workers/sandbox/wasm/check.ts";
import { GuestMaker } from "../../../../workers/sandbox/wasm/maker.ts";
import { doWasmJob, doWasmRuns } from "../../../../workers/sandbox/wasm/run.ts";
import { play } from "./guests.ts";
import { compileWat, dailyCandles, DAYS, strategyWat, taskOver } from "./modules.ts";

const CLOSES = [10, 11, 12];
// 32 pages are declared, one has the columns, and four are for tables.
const PAGES = 37;
const LAST_WORD = PAGES * PAGE_BYTES - 4;

/** Refuses its parameters, with the number of the first thing that is not as at first. Each decision changes all of them. */
const TRACELESS = strategyWat({
  before: `(global $calls (mut i32) (i32.const 0))
    (table $table 1 funcref)
    (elem declare func $nothing)
    (func $nothing)`,
  after: `(data (i32.const 16) "\\01\\02\\03\\04") (data $passive "\\05\\06\\07\\08")`,
  init: `
    (if (i32.ne (memory.size) (i32.const ${PAGES})) (then (return (i32.const 1))))
    (if (global.get $calls) (then (return (i32.const 2))))
    (if (i32.eqz (ref.is_null (table.get $table (i32.const 0)))) (then (return (i32.const 3))))
    (if (i32.ne (i32.load (i32.const 16)) (i32.const 0x04030201)) (then (return (i32.const 4))))
    (if (i32.load (i32.const 1048576)) (then (return (i32.const 5))))
    (if (i32.load (i32.const ${LAST_WORD})) (then (return (i32.const 6))))
    (memory.init $passive (i32.const 24) (i32.const 0) (i32.const 4))
    (i32.const 0)`,
  onCandle: `
    (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
    (table.set $table (i32.const 0) (ref.func $nothing))
    (i32.store (i32.const 16) (i32.const 0))
    (i32.store (i32.const 1048576) (i32.const 1))
    (i32.store (i32.const ${LAST_WORD}) (i32.const 1))
    (data.drop $passive)
    (i32.const 0)`,
});

Deno.test("an instance has the memory of the last one, and finds nothing of it", () => {
  const maker = new GuestMaker(checkModule(compileWat(TRACELESS)));
  const first = maker.make("{}", DAYS, {}, CLOSES.length);
  play(first, CLOSES);
  expect(new Uint32Array(first.memory.buffer)[LAST_WORD / 4]).toBe(1);
  const second = maker.make("{}", DAYS, {}, CLOSES.length);
  expect(second.memory).toBe(first.memory);
  play(second, CLOSES);
});

Deno.test("memory that has grown, or has another size, is not used again", () => {
  const growing = strategyWat({ onCandle: "(drop (memory.grow (i32.const 1))) (i32.const 0)" });
  const maker = new GuestMaker(checkModule(compileWat(growing)));
  const sizeOf = ({ buffer }: WebAssembly.Memory) => buffer.byteLength / PAGE_BYTES;
  const first = maker.make("{}", DAYS, {}, CLOSES.length);
  play(first, CLOSES);
  expect(sizeOf(first.memory)).toBe(PAGES + CLOSES.length);
  expect(sizeOf(maker.make("{}", DAYS, {}, CLOSES.length).memory)).toBe(PAGES);
  // A check, as the module declares it.
  expect(sizeOf(maker.make("{}", DAYS, {}).memory)).toBe(32);
  // 700,000 candles would need 513 pages: so large a memory begins as the module declares it.
  expect(sizeOf(maker.make("{}", DAYS, {}, 650_000).memory)).toBeGreaterThan(32);
  expect(sizeOf(maker.make("{}", DAYS, {}, 700_000).memory)).toBe(32);
});

Deno.test("a module may grow as far from its room as from the pages that it declares", () => {
  const growing = strategyWat({ init: "(i32.eq (memory.grow (i32.const 4064)) (i32.const -1))" });
  const maker = new GuestMaker(checkModule(compileWat(growing)));
  for (const candlesCount of [null, 3, 650_000]) expect(maker.make("{}", DAYS, {}, candlesCount).warmup).toBe(1);
});

Deno.test("a trial of a module that trades by the size of its memory equals its backtest, whatever ran before it", () => {
  const module = compileWat(strategyWat({
    onCandle: `
      (if (i32.ne (i32.load offset=72 (local.get $frame)) (i32.const 1)) (then (return (i32.const 0))))
      (i32.store (local.get $order) (i32.const 1))
      (i32.store offset=4 (local.get $order) (i32.const 1))
      (i32.store offset=12 (local.get $order) (i32.const 1))
      (f64.store offset=16 (local.get $order) (f64.convert_i32_u (memory.size)))
      (drop (memory.grow (i32.rem_u (memory.size) (i32.const 2))))
      (i32.const 1)`,
  }));
  const task = taskOver(dailyCandles(Array.from({ length: 2000 }, (_, i) => 10 + i % 7)));
  const shared = { module, candlesMin: 1, lookbackWanted: null, task };
  const control = createControl();
  const backtest = doWasmJob({ ...shared, kind: "run", parametersJson: "{}" }, control);
  if (backtest.type !== "completed") throw new Error("The backtest has failed");
  const trials: unknown[] = [];
  const limits = { lookback: 0, lookbackWanted: 1, canReload: false, budgetMs: Infinity, returnsMax: Infinity };
  doWasmRuns(
    { ...shared, ...limits, kind: "run_trials", parametersJson: ["{}", "{}", "{}"] },
    { control, report: (message) => trials.push(Reflect.get(Reflect.get(message, "outcome"), "metrics")) },
  );
  expect(backtest.result.orders.quantity[0]).toBeGreaterThan(32);
  expect(trials).toEqual([backtest.result.metrics, backtest.result.metrics, backtest.result.metrics]);
});
