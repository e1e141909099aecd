/** Programs in other languages that do the work of a bench, on the same candles. */
import type { Candles } from "../engine/candles.ts";

/** Compiles a C program of this folder. @returns Its path; null where there is no compiler. */
export async function compileC(name: string, folder: string): Promise<string | null> {
  const source = new URL(`${name}.c`, import.meta.url).pathname;
  const program = `${folder}/${name}`;
  try {
    const args = ["-O3", "-march=native", "-ffp-contract=off", "-o", program, source, "-lm"];
    const { success } = await new Deno.Command("cc", { args }).output();
    return success ? program : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Writes candles as columns of doubles: their count first, then time, open, high, low and close. */
export async function writeCandles(path: string, { time, open, high, low, close }: Candles): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true });
  for (const column of [Float64Array.of(time.length), time, open, high, low, close]) {
    let bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
    while (bytes.length > 0) bytes = bytes.subarray(await file.write(bytes));
  }
}

/** The lines that a program prints. @throws When it fails. */
export async function readLines(program: string, args: readonly string[]): Promise<string[]> {
  const { stdout, stderr, success } = await new Deno.Command(program, { args: [...args] }).output();
  const decoder = new TextDecoder();
  if (!success) {
    throw new Error(`Cannot compare speeds: ${program} failed with ${args.join(" ")}: ${decoder.decode(stderr)}`);
  }
  return decoder.decode(stdout).trim().split("\n");
}
