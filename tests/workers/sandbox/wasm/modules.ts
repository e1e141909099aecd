/** Compiled modules for tests, and candles to run them on. */
import asc from "assemblyscript/asc";
import wabt from "wabt";
import type { Series } from "../../../../workers/sandbox/candle_series.ts";

export { dailyCandles, taskOver, wanderingCloses } from "../sandbox_tasks.ts";

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

/** The series of daily candles. */
export const DAYS: Series = { timeframeMs: 86_400_000, firstIndex: 0 };
