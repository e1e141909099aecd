/** Faults of a module, and the outcome of its run. */
import { expect } from "@std/expect";
import { codeOf, IMPORTS, makeGuest, play, text } from "./guests.ts";
import { strategyWat } from "./modules.ts";

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
    `Cannot go on at ${candle}: the module's calls are nested too deeply`,
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
    "Cannot initialise: init set orders_max to 5000: it must be 1 to 1024",
  ],
  [
    "a warm-up of four billion candles",
    strategyWat({ init: "(i32.store offset=16 (local.get $frame) (i32.const -1)) (i32.const 0)" }),
    "STRATEGY_FAILED",
    "Cannot initialise: init set warmup to 4294967295: it must be 1 to 1000000",
  ],
  [
    "no memory left",
    allocating("(i32.const 0)"),
    "STRATEGY_OUT_OF_MEMORY",
    "Cannot allocate 186 bytes: alloc returned 0",
  ],
  [
    "an unaligned address",
    allocating("(i32.const 65540)"),
    "STRATEGY_FAILED",
    "alloc returned 65540, which is not a multiple of 8",
  ],
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
    `Cannot take the orders of ${candle}: on_candle returned 65 orders: its table has 64 rows`,
  ],
  [
    "two billion orders",
    strategyWat({ onCandle: "(i32.const 0x7fffffff)" }),
    "INVALID_SIGNAL",
    "on_candle returned 2147483647 orders",
  ],
  [
    "a time zone that there is not",
    zoned("(drop (call $zone (i32.const 16) (i32.const 8)))", "New York"),
    "STRATEGY_FAILED",
    "Cannot initialise: the strategy gave up: zone: there is no time zone New York: use a name such as America/New_York",
  ],
  [
    "one time zone too many",
    zoned(
      Array.from({ length: 17 }, (_, n) => `(drop (call $zone (i32.const ${16 + 6 * n}) (i32.const 6)))`).join(" "),
      Array.from({ length: 17 }, (_, n) => `+${String(n).padStart(2, "0")}:00`).join(""),
    ),
    "STRATEGY_FAILED",
    "Cannot initialise: the strategy gave up: zone: it asks for +16:00, and has 16 time zones already",
  ],
  [
    "the offset of a zone that it has not asked for",
    zoned("(drop (call $offset (i32.const -1) (f64.const 0)))"),
    "STRATEGY_FAILED",
    "Cannot initialise: the strategy gave up: zone_offset: there is no zone -1: it has asked for 0",
  ],
  [
    "a time that is none",
    zoned("(drop (call $offset (call $zone (i32.const 16) (i32.const 3)) (f64.const nan)))", "UTC"),
    "STRATEGY_FAILED",
    "Cannot initialise: the strategy gave up: zone_offset: NaN is no time of the years 1 to 9999",
  ],
  [
    "a negative count",
    strategyWat({ onCandle: "(i32.const -5)" }),
    "STRATEGY_FAILED",
    `Cannot go on at ${candle}: on_candle returned -5`,
  ],
];

/** A module that asks for zones in its `init`. */
function zoned(init: string, names = ""): string {
  const before = `(import "env" "zone" (func $zone (param i32 i32) (result i32)))
    (import "env" "zone_offset" (func $offset (param i32 f64) (result f64)))`;
  return strategyWat({ before, init: `${init} (i32.const 0)`, after: text(16, names) });
}

for (const [what, wat, code, message] of FAULTS) {
  Deno.test(`a run ends with ${code}: ${what}`, () => {
    const attempt = () => play(makeGuest(wat), [10, 11]);
    expect(attempt).toThrow(message);
    expect(codeOf(attempt)).toBe(code);
  });
}

function allocating(address: string): string {
  return strategyWat({ after: `(func (export "alloc") (param i32) (result i32) ${address})` }).replace(
    '(export "alloc")',
    "",
  );
}

Deno.test("a run has at most 500,000 different tags, and any number of equal ones", () => {
  /** Places 1,000 limit orders without a price at each candle, each with the next of a number of tags. */
  const tagging = (tags: number) => {
    const bytes = [0, 7, 14].map((bits, at) =>
      `(i32.store8 offset=${1024 + at} (local.get $at)
        (i32.and (i32.shr_u (i32.rem_u (global.get $number) (i32.const ${tags})) (i32.const ${bits})) (i32.const 127)))`
    );
    return strategyWat({
      before: "(global $number (mut i32) (i32.const 0))",
      init: "(i32.store offset=20 (local.get $frame) (i32.const 1000)) (i32.const 0)",
      locals: "(local $k i32) (local $at i32)",
      onCandle: `(loop $next
        (local.set $at (i32.shl (local.get $k) (i32.const 2)))
        ${bytes.join("\n")}
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (i32.store offset=8 (local.get $order) (i32.const 1))
        (i32.store offset=104 (local.get $order) (i32.add (local.get $at) (i32.const 1024)))
        (i32.store offset=108 (local.get $order) (i32.const 3))
        (global.set $number (i32.add (global.get $number) (i32.const 1)))
        (local.set $order (i32.add (local.get $order) (i32.const 112)))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $k) (i32.const 1000))))
        (i32.const 1000)`,
    });
  };
  const closes = new Array<number>(502).fill(10);
  let fault: unknown;
  try {
    play(makeGuest(tagging(1_000_000)), closes);
  } catch (error) {
    fault = error;
  }
  expect(fault).toMatchObject({
    code: "INVALID_SIGNAL",
    message:
      "Cannot take order 0 of candle 500 (2025-05-15T00:00:00.000Z): a run can have at most 500000 different tags",
  });
  expect(play(makeGuest(tagging(500_000)), closes).orders.count).toBe(502_000);
});
