/** The frame that a module reads, and the messages that it sends. */
import { expect } from "@std/expect";
import { resolveExecution } from "../../../../engine/execution.ts";
import { run } from "../../../../engine/run.ts";
import { FRAME } from "../../../../workers/sandbox/contracts/abi.ts";
import { checkModule } from "../../../../workers/sandbox/wasm/check.ts";
import { DECIDED } from "../../../../workers/sandbox/wasm/driver.ts";
import { GuestMaker } from "../../../../workers/sandbox/wasm/maker.ts";
import { GuestStrategy } from "../../../../workers/sandbox/wasm/strategy.ts";
import { roundCapacity } from "../../../../workers/sandbox/player.ts";
import { IMPORTS, makeGuest, play, text } from "./guests.ts";
import { compileAssemblyScript, dailyCandles, DAYS, strategyWat, taskOver } from "./modules.ts";

Deno.test("the frame has version, parameters, defaults, candles and account at the documented offsets", () => {
  const guest = makeGuest(strategyWat({}), '{"fast":10}');
  const view = new DataView(guest.memory.buffer, guest.frame);
  expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([1, 184]);
  const json = new Uint8Array(guest.memory.buffer, view.getUint32(8, true), view.getUint32(12, true));
  expect(new TextDecoder().decode(json)).toBe('{"fast":10}');
  expect([16, 20, 24, 28].map((offset) => view.getUint32(offset, true))).toEqual([1, 64, 0, 0]);
  expect([view.getFloat64(136, true), view.getUint32(144, true)]).toEqual([86_400_000, 0]);

  play(guest, [10, 11, 12.5]);
  expect(view.getUint32(72, true)).toBe(3);
  // Room for 1,024 candles lies between the columns.
  expect(view.getUint32(148, true)).toBe((view.getUint32(36, true) - view.getUint32(32, true)) / 8);
  const columns = [0, 1, 2, 3, 4, 5].map((n) => {
    const at = view.getUint32(FRAME.columns + 4 * n, true);
    expect(at % 8).toBe(0);
    return [...new Float64Array(guest.memory.buffer, at, 4)];
  });
  const day = 86_400_000;
  const begin = Date.UTC(2024, 0, 1);
  expect(columns).toEqual([
    // After the third candle the column is empty.
    [begin, begin + day, begin + 2 * day, 0],
    [10, 10, 11, 0],
    [10.5, 11.5, 13, 0],
    [9.5, 9.5, 10.5, 0],
    [10, 11, 12.5, 0],
    [1, 1, 1, 0],
  ]);
  const doubles = (offset: number) => view.getFloat64(offset, true);
  expect([96, 104, 112, 120, 128].map(doubles)).toEqual([10_000, 10_000, 0, 0, 10_000]);
});

Deno.test("at a decision the memory has every candle so far and no later one", () => {
  // Fails when a value after the last one is not zero, or when the count has not grown by one.
  const wat = strategyWat({
    before: "(global $calls (mut i32) (i32.const 4))",
    onCandle: `
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (if (i32.ne (global.get $calls) (i32.load offset=72 (local.get $frame))) (then (return (i32.const -1))))
      (block $empty
        ${
      [32, 36, 40, 44, 48, 52].map((column) =>
        `(if (f64.ne
          (f64.load (i32.add (i32.load offset=${column} (local.get $frame)) (i32.shl (i32.load offset=72 (local.get $frame)) (i32.const 3))))
          (f64.const 0))
        (then (return (i32.const -2))))`
      ).join("\n")
    })
      (i32.const 0)`,
  });
  // Five candles are seen before the first decision, four of them before the range.
  const guest = makeGuest(wat);
  const result = play(guest, Array.from({ length: 3000 }, (_, i) => 10 + i % 7), { firstIndex: 4 });
  expect(result.equity.length).toBe(2996);
});

Deno.test("the first decision waits for the larger of the module's warm-up and the strategy's minimum", () => {
  const asking = (warmup: number) =>
    strategyWat({ init: `(i32.store offset=16 (local.get $frame) (i32.const ${warmup})) (i32.const 0)` });
  expect(new GuestStrategy(() => makeGuest(asking(7)), 3).warmup).toBe(7);
  expect(new GuestStrategy(() => makeGuest(asking(2)), 3).warmup).toBe(3);
});

Deno.test("memory may grow during a decision", () => {
  const growing = (pages: number) =>
    strategyWat({
      onCandle: `
        (drop (memory.grow (i32.const ${pages})))
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (i32.and (i32.load offset=72 (local.get $frame)) (i32.const 1))`,
    });
  const closes = [10, 11, 12, 11, 13, 12, 14];
  const still = play(makeGuest(growing(0)), closes);
  expect(still.trades.count).toBeGreaterThan(0);
  expect(play(makeGuest(growing(1)), closes)).toEqual(still);
});

Deno.test("a module that overwrites its frame finds it whole at each candle, while nothing happens too", () => {
  const read = (type: string, offset: number) => `(${type}.load offset=${offset} (local.get $frame))`;
  const wat = strategyWat({
    before: "(global $calls (mut i32) (i32.const 0))",
    locals: "(local $close i32)",
    init: "(i32.store offset=24 (local.get $frame) (i32.const 2)) (i32.const 0)",
    // Buys half a unit at the first candle, and checks the frame from the third one on.
    onCandle: `
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (local.set $close (i32.add (i32.load offset=48 (local.get $frame)) (i32.shl (global.get $calls) (i32.const 3))))
      (if (i32.gt_u (global.get $calls) (i32.const 2)) (then
        (if (i32.ne ${read("i32", FRAME.count)} (global.get $calls)) (then (return (i32.const -1))))
        (if (i32.ne ${read("i32", FRAME.resultsCount)} (i32.const 0)) (then (return (i32.const -2))))
        (if (i32.ne ${read("i32", FRAME.workingOrders)} (i32.const 0)) (then (return (i32.const -3))))
        (if (i32.ne ${read("i32", FRAME.openTrades)} (i32.const 1)) (then (return (i32.const -4))))
        (if (i32.ne ${read("i32", FRAME.tradesCount)} (i32.const 1)) (then (return (i32.const -5))))
        (if (i32.ne ${read("i32", FRAME.workingCount)} (i32.const 0)) (then (return (i32.const -6))))
        (if (f64.ne ${read("f64", FRAME.quantity)} (f64.const 0.5)) (then (return (i32.const -7))))
        (if (f64.ne ${read("f64", FRAME.entryPrice)} (f64.const 10)) (then (return (i32.const -8))))
        (if (f64.ne ${read("f64", FRAME.initialBalance)} (f64.const 10000)) (then (return (i32.const -9))))
        (if (f64.ne ${read("f64", FRAME.cash)} (f64.const 9995)) (then (return (i32.const -10))))
        (if (f64.ne ${read("f64", FRAME.equity)}
            (f64.add (f64.const 9995) (f64.mul (f64.const 0.5) (f64.load (i32.sub (local.get $close) (i32.const 8))))))
          (then (return (i32.const -11))))))
      (memory.fill (i32.add (local.get $frame) (i32.const ${FRAME.count})) (i32.const 255) (i32.const 64))
      (if (i32.gt_u (global.get $calls) (i32.const 1)) (then (return (i32.const 0))))
      (i32.store (local.get $order) (i32.const 1))
      (i32.store offset=4 (local.get $order) (i32.const 1))
      (i32.store offset=12 (local.get $order) (i32.const 1))
      (f64.store offset=16 (local.get $order) (f64.const 0.5))
      (i32.const 1)`,
  });
  const closes = Array.from({ length: 3000 }, (_, i) => 10 + i % 7);
  for (const requested of [wat, wat.replace("offset=24", "offset=28").replaceAll(/.*i32.const -5.*/g, "")]) {
    const { orders, trades } = play(makeGuest(requested), closes, { execution: resolveExecution({}, "crypto") });
    expect([orders.count, trades.count]).toEqual([1, 1]);
  }
});

Deno.test("a failure after many quiet candles names its candle and counts those before it", () => {
  for (const failure of ["(unreachable)", "(call $abort (i32.const 16) (i32.const 2))", "(return (i32.const -1))"]) {
    const wat = strategyWat({
      before: IMPORTS,
      after: text(16, "no"),
      onCandle:
        `(if (i32.eq (i32.load offset=72 (local.get $frame)) (i32.const 1501)) (then ${failure})) (i32.const 0)`,
    });
    expect(() => play(makeGuest(wat), Array.from({ length: 3000 }, () => 10))).toThrow(
      "Cannot go on at candle 1500 (2028-02-09T00:00:00.000Z)",
    );
    // A call that returned has decided.
    expect(new Int32Array(DECIDED)[0]).toBe(failure.startsWith("(return") ? 1501 : 1500);
  }
});

Deno.test("equal modules over equal candles give equal results, however often they are prepared", () => {
  const wat = strategyWat({
    onCandle: `
    (i32.store (local.get $order) (i32.const 1))
    (i32.store offset=4 (local.get $order) (select (i32.const 1) (i32.const -1) (i32.and (i32.load offset=72 (local.get $frame)) (i32.const 2))))
    (i32.const 1)`,
  });
  const strategy = new GuestStrategy(() => makeGuest(wat), 1);
  const settings = taskOver(dailyCandles([10, 11, 12, 11, 13, 12, 14, 10]));
  const first = run({ ...settings, strategy, control: null });
  expect(first.trades.count).toBeGreaterThan(1);
  expect(run({ ...settings, strategy, control: null })).toEqual(first);
});

Deno.test("columns have room for a run's candles, in sizes that hide its length", () => {
  expect([1, 1024, 1025, 1152, 1153].map(roundCapacity)).toEqual([1024, 1024, 1152, 1152, 1280]);
  for (const count of [1, 999, 4097, 525_600, 1_100_000]) {
    expect(roundCapacity(count)).toBeGreaterThanOrEqual(count);
    expect(roundCapacity(count)).toBeLessThanOrEqual(Math.max(1024, count * 1.13));
  }
});

Deno.test("an abort ends the run even if the module catches it", () => {
  const wat = strategyWat({
    before: IMPORTS,
    after: text(16, "no"),
    onCandle: "(try (do (call $abort (i32.const 16) (i32.const 2))) (catch_all)) (i32.const 0)",
  });
  expect(() => play(makeGuest(wat), [10])).toThrow("the strategy gave up: no");
});

Deno.test("AssemblyScript's own abort gives its message, file and place", async () => {
  const source = `
    export function abi_version(): i32 { return 1 }
    export function alloc(size: i32): usize { return heap.alloc(size) }
    export function init(frame: usize): i32 { return 0 }
    export function on_candle(frame: usize): i32 {
      if (load<i32>(frame, 72) == 2) throw new Error("zwölf is too much");
      return 0;
    }`;
  const maker = new GuestMaker(checkModule(await compileAssemblyScript(source)));
  expect(() => play(maker.make("{}", DAYS, {}), [10, 11])).toThrow(
    /gave up: zwölf is too much \(in\.ts:6:\d+\)/,
  );
});

Deno.test("an endless log is cut to a hundred lines of at most a kilobyte", () => {
  const log: string[] = [];
  const wat = strategyWat({
    before: IMPORTS,
    onCandle: "(call $log (i32.const 0) (i32.const 5000)) (i32.const 0)",
    after: text(0, "a\\0ab"),
  });
  play(makeGuest(wat, "{}", log), Array.from({ length: 300 }, () => 10));
  expect(log.length).toBe(100);
  expect(log[0]!.length).toBe(1024);
  expect(log[0]!.slice(0, 4)).toBe("a b ");
});

Deno.test("messages of a start function are kept", () => {
  const log: string[] = [];
  const begin = "(func $begin (call $log (i32.const 16) (i32.const 2))) (start $begin)";
  makeGuest(strategyWat({ before: IMPORTS, after: `${text(16, "hi")} ${begin}` }), "{}", log);
  expect(log).toEqual(["hi"]);
});

Deno.test("_initialize is called before anything else", () => {
  const wat = strategyWat({
    before: "(global $ready (mut i32) (i32.const 9))",
    after: '(func (export "_initialize") (global.set $ready (i32.const 0)))',
    init: "(global.get $ready)",
  });
  expect(play(makeGuest(wat), [10]).equity.length).toBe(1);
});
