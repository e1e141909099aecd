/** Hostile modules, each with the outcome that it must have. */
import { LOG_LINES_MAX } from "../../../../workers/sandbox/contracts/abi.ts";
import { compileWat, strategyWat } from "./modules.ts";

export interface Hostile {
  readonly what: string;
  readonly module: () => Uint8Array;
  /** The code of a run; `done` where the harm comes to nothing. */
  readonly code: string;
  readonly message: RegExp;
  /** True when the dry run is too short to show the harm. */
  readonly isAccepted?: true;
  /** Lines that are left of the run's log; 0 by default. */
  readonly logged?: number;
  /** Of the process; 512 by default. */
  readonly memoryMibMax?: number;
}

/** For cases that end by themselves, in a second or two on a quick machine. */
export const FINISH_MS_MAX = 120_000;

/** For endless cases, which the deadline stops. */
export function deadlineOf({ code }: Hostile): number {
  return code === "STRATEGY_TIMED_OUT" ? 1000 : FINISH_MS_MAX;
}

const FOREVER = "(loop $again (br $again))";
const MIB = 2 ** 20;

/** Grows by `pages` at a time and writes to every page, until the memory cannot grow. */
const BOMB = `
  (func $bomb (local $at i32)
    (block $full
      (loop $more
        (local.set $at (memory.grow (i32.const 16)))
        (br_if $full (i32.eq (local.get $at) (i32.const -1)))
        (memory.fill (i32.shl (local.get $at) (i32.const 16)) (i32.const 1) (i32.const ${MIB}))
        (br $more))))`;

/** 25 kB that take V8's optimising compiler more than 2 GB: many variables that live through many blocks. */
export function compileCompilerBomb(): Uint8Array {
  const block = "(block (br_if 0 (local.get $n)))";
  return compileWat(strategyWat({
    onCandle: "(loop $again (call $large (i32.const 0)) (br $again)) (i32.const 0)",
    after: `(func $large (param $n i32) (local ${"f64 ".repeat(49_000)}) ${block.repeat(3500)})`,
  }));
}

export const HOSTILE: readonly Hostile[] = [
  {
    what: "loops for ever in its start function",
    module: () => compileWat(strategyWat({ after: `(func $begin ${FOREVER}) (start $begin)` })),
    code: "STRATEGY_TIMED_OUT",
    message: /^Cannot finish within 1 s: 0 candles were done$/,
  },
  {
    what: "loops for ever in init",
    module: () => compileWat(strategyWat({ init: `${FOREVER} (i32.const 0)` })),
    code: "STRATEGY_TIMED_OUT",
    message: /^Cannot finish within 1 s/,
  },
  {
    what: "loops for ever in on_candle",
    module: () =>
      compileWat(strategyWat({
        onCandle:
          `(if (i32.eq (i32.load offset=72 (local.get $frame)) (i32.const 20)) (then ${FOREVER})) (i32.const 0)`,
      })),
    code: "STRATEGY_TIMED_OUT",
    // None where the process has not begun by then.
    message: /^Cannot finish within 1 s: (0|19) candles were done$/,
  },
  {
    what: "loops for ever in alloc",
    module: () =>
      compileWat(
        strategyWat({ after: `(func (export "alloc") (param i32) (result i32) ${FOREVER} (i32.const 0))` })
          .replace('(export "alloc")', ""),
      ),
    code: "STRATEGY_TIMED_OUT",
    message: /^Cannot finish within 1 s/,
  },
  {
    what: "writes to the log for ever",
    module: () =>
      compileWat(strategyWat({
        before: '(import "env" "log" (func $log (param i32 i32)))',
        onCandle: "(loop $again (call $log (i32.const 0) (i32.const 2000000)) (br $again)) (i32.const 0)",
      })),
    logged: LOG_LINES_MAX,
    code: "STRATEGY_TIMED_OUT",
    message: /^Cannot finish within \d+ s/,
  },
  {
    what: "calls itself without end",
    module: () =>
      compileWat(strategyWat({
        onCandle: "(call $deep)",
        after: "(func $deep (result i32) (i32.add (call $deep) (i32.const 1)))",
      })),
    code: "STRATEGY_FAILED",
    message: /candle 0 .*nested too deep/,
  },
  {
    what: "calls itself without end in start",
    module: () => compileWat(strategyWat({ after: "(func $deep (call $deep) (call $deep)) (start $deep)" })),
    code: "STRATEGY_FAILED",
    message: /^Cannot start: .*nested too deeply/,
  },
  {
    what: "fills all of its memory",
    module: () => compileWat(strategyWat({ after: `${BOMB} (start $bomb)` })),
    code: "completed",
    message: /^$/,
  },
  {
    what: "fills more memory than the process may have",
    module: () => compileWat(strategyWat({ after: `${BOMB} (func $begin (call $bomb) ${FOREVER}) (start $begin)` })),
    code: "STRATEGY_OUT_OF_MEMORY",
    message: /^Cannot use more than 200 MiB of memory/,
    memoryMibMax: 200,
  },
  {
    what: "places 1,024 orders at every candle",
    module: () =>
      compileWat(strategyWat({
        init: "(i32.store offset=20 (local.get $frame) (i32.const 1024)) (i32.const 0)",
        locals: "(local $n i32)",
        onCandle: `
          (loop $more
            (i32.store (local.get $order) (i32.const 1))
            (i32.store offset=4 (local.get $order) (i32.const 1))
            (i32.store offset=8 (local.get $order) (i32.const 1))
            (f64.store offset=24 (local.get $order) (f64.const 1))
            (local.set $order (i32.add (local.get $order) (i32.const 112)))
            (local.set $n (i32.add (local.get $n) (i32.const 1)))
            (br_if $more (i32.lt_u (local.get $n) (i32.const 1024))))
          (i32.const 1024)`,
      })),
    code: "INVALID_SIGNAL",
    message: /a run can have at most 2000000 orders/,
    isAccepted: true,
  },
  {
    what: "has 64 memories",
    module: () => compileWat(strategyWat({ after: "(memory 4096)".repeat(63) })),
    code: "STRATEGY_FAILED",
    message: /declares 64 memories/,
  },
  {
    what: "has a table of ten million elements",
    module: () => compileWat(strategyWat({ after: "(table 10000000 funcref)" })),
    code: "STRATEGY_FAILED",
    message: /table has 10000000 elements/,
  },
  {
    what: "grows its table without end",
    module: () =>
      compileWat(strategyWat({
        after: `(table $t 1 funcref)
          (func $begin (loop $more (br_if $more (i32.ne (table.grow $t (ref.null func) (i32.const 1000)) (i32.const -1)))))
          (start $begin)`,
      })),
    code: "completed",
    message: /^$/,
  },
  {
    what: "has 64 MB",
    module: () => new Uint8Array(64_000_000),
    code: "STRATEGY_FAILED",
    message: /it has 64000000 bytes: at most 4194304/,
  },
  {
    what: "has a 64-bit memory",
    module: () => compileWat(withMemory('(memory (export "memory") i64 32)')),
    code: "STRATEGY_FAILED",
    message: /64-bit addresses/,
  },
  {
    what: "has a shared memory",
    module: () => compileWat(withMemory('(memory (export "memory") 32 64 shared)')),
    code: "STRATEGY_FAILED",
    message: /shared between threads/,
  },
  {
    what: "exports 10,000 functions",
    module: () =>
      compileWat(strategyWat({ after: Array.from({ length: 10_000 }, (_, n) => `(func (export "f${n}"))`).join("") })),
    code: "STRATEGY_FAILED",
    message: /10005 exports: at most 1000/,
  },
  {
    what: "imports an unknown function",
    module: () => compileWat(strategyWat({ before: '(import "env" "fetch" (func))' })),
    code: "STRATEGY_FAILED",
    message: /imports env.fetch: only env.abort, env.log, .* and env.draw are provided/,
  },
  {
    what: "has an init of another type",
    module: () =>
      compileWat(
        strategyWat({ after: '(func (export "init") (param f64))' }).replace('(export "init")', '(export "other")'),
      ),
    code: "STRATEGY_FAILED",
    message: /its function init is \(f64\) -> nothing: it must be \(i32\) -> i32/,
  },
  {
    what: "is empty",
    module: () => new Uint8Array(0),
    code: "STRATEGY_FAILED",
    message: /it is empty/,
  },
  {
    what: "is a program for Linux",
    module: () => new TextEncoder().encode("\x7fELF and so on"),
    code: "STRATEGY_FAILED",
    message: /does not begin with the four bytes/,
  },
  {
    what: "buys an infinite quantity",
    module: () => compileWat(ordering("(f64.store offset=16 (local.get $order) (f64.const inf))")),
    code: "INVALID_SIGNAL",
    message: /order 0 of candle 0 .*: size is Infinity/,
  },
  {
    what: "sets its stop price to NaN",
    module: () => compileWat(ordering("(f64.store offset=40 (local.get $order) (f64.const nan))")),
    code: "INVALID_SIGNAL",
    message: /order 0 of candle 0 .*: stop_loss is NaN/,
  },
  {
    what: "returns two billion orders",
    module: () => compileWat(strategyWat({ onCandle: "(i32.const 0x7fffffff)" })),
    code: "INVALID_SIGNAL",
    message: /on_candle returned 2147483647 orders/,
  },
  {
    what: "points outside its memory",
    module: () =>
      compileWat(ordering(`(i32.store offset=104 (local.get $order) (i32.const -64))
        (i32.store offset=108 (local.get $order) (i32.const 32))`)),
    code: "INVALID_SIGNAL",
    message: /tag_ptr is 4294967232, outside the memory/,
  },
  {
    what: "has invalid code",
    module: () => spoil(compileWat(strategyWat({}))),
    code: "STRATEGY_FAILED",
    message: /^Cannot use the module: it is not valid: /,
  },
  {
    what: "is cut off",
    module: () => compileWat(strategyWat({})).slice(0, -3),
    code: "STRATEGY_FAILED",
    message: /it is cut off/,
  },
];

/** The last byte of a module's code is the end of a function; another opcode there makes it invalid. */
function spoil(module: Uint8Array): Uint8Array {
  const bytes = Uint8Array.from(module);
  bytes[bytes.length - 1] = 0xff;
  return bytes;
}

function withMemory(memory: string): string {
  return strategyWat({}).replace('(memory (export "memory") 32)', memory)
    .replace("(local.set $order (i32.load offset=56 (local.get $frame)))", "");
}

/** Buys one unit at every candle, with further fields. */
function ordering(fields: string): string {
  return strategyWat({
    onCandle: `
      (i32.store (local.get $order) (i32.const 1))
      (i32.store offset=4 (local.get $order) (i32.const 1))
      (i32.store offset=12 (local.get $order) (i32.const 1))
      (f64.store offset=16 (local.get $order) (f64.const 1))
      ${fields}
      (i32.const 1)`,
  });
}
