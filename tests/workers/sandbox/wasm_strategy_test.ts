/** What a module is told, and what becomes of one that misbehaves. */
import { expect } from "@std/expect";
import { run, type RunResult } from "../../../engine/run.ts";
import { FRAME } from "../../../workers/sandbox/wasm_abi.ts";
import { checkModule } from "../../../workers/sandbox/wasm_check.ts";
import { Guest } from "../../../workers/sandbox/wasm_guest.ts";
import { roundCapacity, WasmStrategy } from "../../../workers/sandbox/wasm_strategy.ts";
import { compileAssemblyScript, compileWat, dailyCandles, strategyWat, taskOver } from "./modules.ts";

Deno.test("the frame tells version, parameters, defaults, candles and account where the page says", () => {
  const guest = makeGuest(strategyWat({}), '{"fast":10}');
  const view = new DataView(guest.memory.buffer, guest.frame);
  expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([1, 136]);
  const json = new Uint8Array(guest.memory.buffer, view.getUint32(8, true), view.getUint32(12, true));
  expect(new TextDecoder().decode(json)).toBe('{"fast":10}');
  expect([16, 20, 24, 28].map((offset) => view.getUint32(offset, true))).toEqual([1, 64, 0, 0]);

  play(guest, [10, 11, 12.5]);
  expect(view.getUint32(72, true)).toBe(3);
  const columns = [0, 1, 2, 3, 4, 5].map((n) => {
    const at = view.getUint32(FRAME.columns + 4 * n, true);
    expect(at % 8).toBe(0);
    return [...new Float64Array(guest.memory.buffer, at, 4)];
  });
  const day = 86_400_000;
  const begin = Date.UTC(2024, 0, 1);
  expect(columns).toEqual([
    // Behind the third candle there is nothing.
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

Deno.test("no later candle is in the memory when a decision is made, and no candle is left out", () => {
  // Gives up when the close behind the last one is not zero, or when the count is not one more than at the last call.
  const wat = strategyWat({
    before: "(global $calls (mut i32) (i32.const 4))",
    onCandle: `
      (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
      (if (i32.ne (global.get $calls) (i32.load offset=72 (local.get $frame))) (then (return (i32.const -1))))
      (if (f64.ne
          (f64.load (i32.add (i32.load offset=48 (local.get $frame)) (i32.shl (i32.load offset=72 (local.get $frame)) (i32.const 3))))
          (f64.const 0))
        (then (return (i32.const -2))))
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
  expect(new WasmStrategy(() => makeGuest(asking(7)), 3).warmup).toBe(7);
  expect(new WasmStrategy(() => makeGuest(asking(2)), 3).warmup).toBe(3);
});

Deno.test("memory that grows during a decision changes nothing", () => {
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

Deno.test("equal modules over equal candles give equal results, however often they are prepared", () => {
  const wat = strategyWat({
    onCandle: `
    (i32.store (local.get $order) (i32.const 1))
    (i32.store offset=4 (local.get $order) (select (i32.const 1) (i32.const -1) (i32.and (i32.load offset=72 (local.get $frame)) (i32.const 2))))
    (i32.const 1)`,
  });
  const strategy = new WasmStrategy(() => makeGuest(wat), 1);
  const settings = taskOver(dailyCandles([10, 11, 12, 11, 13, 12, 14, 10]));
  const first = run({ ...settings, strategy, control: null });
  expect(first.trades.count).toBeGreaterThan(1);
  expect(run({ ...settings, strategy, control: null })).toEqual(first);
});

Deno.test("columns have room for a run's candles, in sizes that do not tell its length", () => {
  expect([1, 1024, 1025, 1152, 1153].map(roundCapacity)).toEqual([1024, 1024, 1152, 1152, 1280]);
  for (const count of [1, 999, 4097, 525_600, 1_100_000]) {
    expect(roundCapacity(count)).toBeGreaterThanOrEqual(count);
    expect(roundCapacity(count)).toBeLessThanOrEqual(Math.max(1024, count * 1.13));
  }
});

const text = (at: number, words: string) => `(data (i32.const ${at}) "${words}")`;
const IMPORTS = '(import "env" "abort" (func $abort (param i32 i32))) (import "env" "log" (func $log (param i32 i32)))';
const candle = "candle 0 (2024-01-01T00:00:00.000Z)";

const FAULTS: readonly (readonly [what: string, wat: string, code: string, message: string])[] = [
  [
    "unreachable code",
    strategyWat({ onCandle: "unreachable" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the module trapped: unreachable`,
  ],
  [
    "a division by zero",
    strategyWat({ onCandle: "(i32.div_s (i32.const 1) (i32.const 0))" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the module trapped: divide by zero`,
  ],
  [
    "a read outside the memory",
    strategyWat({ onCandle: "(i32.load (i32.const -8))" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the module trapped: memory access out of bounds`,
  ],
  [
    "recursion without end",
    strategyWat({
      before: "",
      onCandle: "(call $deep)",
      after: "(func $deep (result i32) (i32.add (call $deep) (i32.const 1)))",
    }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the module's calls are nested too deep`,
  ],
  [
    "an exception that nobody catches",
    strategyWat({ before: "(tag $e)", onCandle: "(throw $e)" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the module threw an exception and did not catch it`,
  ],
  [
    "an abort with a message",
    strategyWat({
      before: IMPORTS,
      onCandle: "(call $abort (i32.const 16) (i32.const 9)) (i32.const 0)",
      after: text(16, "no volume"),
    }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: the strategy gave up: no volume`,
  ],
  [
    "an abort with a message outside the memory",
    strategyWat({ before: IMPORTS, onCandle: "(call $abort (i32.const -9) (i32.const 99)) (i32.const 0)" }),
    "STRATEGY_FAILED",
    `the strategy gave up: (a message outside its memory)`,
  ],
  [
    "a start function that traps",
    strategyWat({ after: "(func $begin unreachable) (start $begin)" }),
    "STRATEGY_FAILED",
    "Cannot start: the module trapped: unreachable",
  ],
  [
    "a refusal of its parameters",
    strategyWat({ init: "(i32.const 3)" }),
    "STRATEGY_FAILED",
    "Cannot initialise: init returned 3",
  ],
  [
    "another version of the ABI",
    strategyWat({}).replace("(result i32) (i32.const 1))", "(result i32) (i32.const 2))"),
    "STRATEGY_FAILED",
    "Cannot speak ABI version 2: this host speaks 1",
  ],
  [
    "a table of 5,000 orders",
    strategyWat({ init: "(i32.store offset=20 (local.get $frame) (i32.const 5000)) (i32.const 0)" }),
    "STRATEGY_FAILED",
    "Cannot initialise: init set orders_max to 5000, and it is 1 to 1024",
  ],
  [
    "a warm-up of four billion candles",
    strategyWat({ init: "(i32.store offset=16 (local.get $frame) (i32.const -1)) (i32.const 0)" }),
    "STRATEGY_FAILED",
    "Cannot initialise: init set warmup to 4294967295, and it is 1 to 1000000",
  ],
  [
    "no memory left",
    allocating("(i32.const 0)"),
    "STRATEGY_OUT_OF_MEMORY",
    "Cannot allocate 138 bytes: alloc returned 0",
  ],
  ["a crooked address", allocating("(i32.const 65540)"), "STRATEGY_FAILED", "alloc returned 65540, no multiple of 8"],
  [
    "a block outside the memory",
    allocating("(i32.const 2097144)"),
    "STRATEGY_FAILED",
    "alloc returned 2097144, and the memory has 2097152 bytes",
  ],
  [
    "an address beyond 2 GiB",
    allocating("(i32.const -8)"),
    "STRATEGY_FAILED",
    "alloc returned 4294967288, and the memory has",
  ],
  [
    "more orders than rows",
    strategyWat({ onCandle: "(i32.const 65)" }),
    "INVALID_SIGNAL",
    `Cannot take the orders of ${candle}: on_candle returned 65 orders, and its table has 64 rows`,
  ],
  [
    "two billion orders",
    strategyWat({ onCandle: "(i32.const 0x7fffffff)" }),
    "INVALID_SIGNAL",
    "on_candle returned 2147483647 orders",
  ],
  [
    "a negative count",
    strategyWat({ onCandle: "(i32.const -5)" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: on_candle returned -5`,
  ],
];

for (const [what, wat, code, message] of FAULTS) {
  Deno.test(`a run ends with ${code}: ${what}`, () => {
    const attempt = () => play(makeGuest(wat), [10, 11]);
    expect(attempt).toThrow(message);
    expect(codeOf(attempt)).toBe(code);
  });
}

Deno.test("an abort that the module catches ends the run all the same", () => {
  const wat = strategyWat({
    before: IMPORTS,
    after: text(16, "no"),
    onCandle: "(try (do (call $abort (i32.const 16) (i32.const 2))) (catch_all)) (i32.const 0)",
  });
  expect(() => play(makeGuest(wat), [10])).toThrow("the strategy gave up: no");
});

Deno.test("AssemblyScript's own abort brings its message, file and place", async () => {
  const source = `
    export function abi_version(): i32 { return 1 }
    export function alloc(size: i32): usize { return heap.alloc(size) }
    export function init(frame: usize): i32 { return 0 }
    export function on_candle(frame: usize): i32 {
      if (load<i32>(frame, 72) == 2) throw new Error("zwölf is too much");
      return 0;
    }`;
  const module = new WebAssembly.Module(checkModule(await compileAssemblyScript(source)).bytes);
  expect(() => play(new Guest(module, "{}", []), [10, 11])).toThrow(/gave up: zwölf is too much \(in\.ts:6:\d+\)/);
});

Deno.test("a hundred lines are kept of a module that writes without end, and none longer than a kilobyte", () => {
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

Deno.test("_initialize is called before anything else", () => {
  const wat = strategyWat({
    before: "(global $ready (mut i32) (i32.const 9))",
    after: '(func (export "_initialize") (global.set $ready (i32.const 0)))',
    init: "(global.get $ready)",
  });
  expect(play(makeGuest(wat), [10]).equity.length).toBe(1);
});

function allocating(address: string): string {
  return strategyWat({ after: `(func (export "alloc") (param i32) (result i32) ${address})` }).replace(
    '(export "alloc")',
    "",
  );
}

function makeGuest(wat: string, parametersJson = "{}", log: string[] = []): Guest {
  return new Guest(new WebAssembly.Module(checkModule(compileWat(wat)).bytes), parametersJson, log);
}

function play(guest: Guest, closes: readonly number[], overrides = {}): RunResult {
  const strategy = new WasmStrategy(() => guest, 1);
  return run({ ...taskOver(dailyCandles(closes), overrides), strategy, control: null });
}

function codeOf(attempt: () => unknown): unknown {
  try {
    attempt();
    return null;
  } catch (error) {
    return Reflect.get(Object(error), "code");
  }
}
