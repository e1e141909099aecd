/** Compiled modules for tests, and candles to run them on. */
import asc from "assemblyscript/asc";
import wabt from "wabt";
import type { Candles } from "../../../../engine/candles.ts";
import { resolveExecution } from "../../../../engine/execution.ts";
import type { Series } from "../../../../workers/sandbox/candle_series.ts";
import type { SandboxTask } from "../../../../workers/sandbox/task.ts";

const { parseWat } = await wabt();

/** A module from its text, with features beyond the standard. @throws When the text is not a module. */
export function compileWat(text: string): Uint8Array {
  const features = { exceptions: true, multi_memory: true, memory64: true, threads: true, tail_call: true };
  const module = parseWat("test.wat", text, features);
  try {
    return module.toBinary({}).buffer;
  } finally {
    module.destroy();
  }
}

/** A module from AssemblyScript, by the command in the example's README. `imported` holds further sources by file name. */
export async function compileAssemblyScript(
  source: string,
  imported: Readonly<Record<string, string>> = {},
): Promise<Uint8Array> {
  const written: Uint8Array[] = [];
  const { error, stderr } = await asc.main(["in.ts", "--outFile", "out.wasm", "-O3", "--runtime", "stub"], {
    readFile: (name: string) => name === "in.ts" ? source : imported[name] ?? null,
    writeFile: (_name: string, contents: string | Uint8Array) => {
      if (contents instanceof Uint8Array) written.push(contents);
    },
    listFiles: () => [],
  });
  const [module] = written;
  if (error !== null || module === undefined) throw new Error(`Cannot compile the AssemblyScript: ${stderr}`);
  return module;
}

/** The smallest strategy around a body of `on_candle`, with the further code that a test needs. */
export function strategyWat(
  { onCandle = "(i32.const 0)", locals = "", init = "(i32.const 0)", before = "", after = "" }: {
    readonly onCandle?: string;
    readonly locals?: string;
    readonly init?: string;
    readonly before?: string;
    readonly after?: string;
  },
): string {
  return `(module
    ${before}
    (memory (export "memory") 32)
    (global $free (mut i32) (i32.const 65536))
    (func (export "abi_version") (result i32) (i32.const 1))
    (func (export "alloc") (param $size i32) (result i32)
      (local $block i32)
      (local.set $block (global.get $free))
      (global.set $free (i32.add (local.get $block) (i32.and (i32.add (local.get $size) (i32.const 7)) (i32.const -8))))
      (local.get $block))
    (func (export "init") (param $frame i32) (result i32) ${init})
    (func (export "on_candle") (param $frame i32) (result i32) (local $order i32) ${locals}
      (local.set $order (i32.load offset=56 (local.get $frame)))
      ${onCandle})
    ${after})`;
}

/** Candles of a day each that open where the last one closed, and reach half a unit beyond both. */
export function dailyCandles(closes: readonly number[]): Candles {
  const opens = closes.map((close, i) => closes[i - 1] ?? close);
  return {
    time: Float64Array.from(closes, (_, i) => Date.UTC(2024, 0, 1) + i * 86_400_000),
    open: Float64Array.from(opens),
    high: Float64Array.from(closes, (close, i) => Math.max(close, opens[i]!) + 0.5),
    low: Float64Array.from(closes, (close, i) => Math.min(close, opens[i]!) - 0.5),
    close: Float64Array.from(closes),
    volume: Float64Array.from(closes, () => 1),
  };
}

/** A random walk of prices in steps of a hundredth, the same for the same seed. */
export function wanderingCloses(count: number, seed = 1): number[] {
  let state = seed;
  let cents = 10_000;
  return Array.from({ length: count }, () => {
    state = state * 48_271 % 2_147_483_647;
    cents = Math.max(5000, cents + Math.round((state / 2_147_483_647 - 0.5) * 200));
    return cents / 100;
  });
}

/** The series of daily candles. */
export const DAYS: Series = { timeframeMs: 86_400_000, firstIndex: 0 };

/** A run's settings over candles. */
export function taskOver(candles: Candles, overrides: Partial<SandboxTask> = {}): SandboxTask {
  return {
    candles,
    firstIndex: 0,
    initialBalance: 10_000,
    execution: resolveExecution({}, "crypto"),
    timeframeMs: 86_400_000,
    assetClass: "crypto",
    finer: null,
    seed: 7,
    ...overrides,
  };
}
