/** Instances and runs for tests. */
import { run, type RunResult } from "../../../../engine/run.ts";
import type { SandboxTask } from "../../../../workers/sandbox/task.ts";
import { checkModule } from "../../../../workers/sandbox/wasm/check.ts";
import type { Guest } from "../../../../workers/sandbox/wasm/guest.ts";
import { GuestMaker } from "../../../../workers/sandbox/wasm/maker.ts";
import { GuestStrategy } from "../../../../workers/sandbox/wasm/strategy.ts";
import { compileWat, dailyCandles, DAYS, taskOver } from "./modules.ts";

/** The imports of a module that calls `abort` and `log`. */
export const IMPORTS =
  '(import "env" "abort" (func $abort (param i32 i32))) (import "env" "log" (func $log (param i32 i32)))';

/** The memory of a module as 32-bit words. */
export function text(at: number, words: string): string {
  return `(data (i32.const ${at}) "${words}")`;
}

export function makeGuest(wat: string, parametersJson = "{}", log: string[] = []): Guest {
  return new GuestMaker(checkModule(compileWat(wat))).make(parametersJson, DAYS, { log });
}

/** Runs an instance over candles that close at these prices. */
export function play(guest: Guest, closes: readonly number[], overrides: Partial<SandboxTask> = {}): RunResult {
  const strategy = new GuestStrategy(() => guest, 1);
  return run({ ...taskOver(dailyCandles(closes), overrides), strategy, control: null });
}

/** The code of the error that an attempt throws; null when it succeeds. */
export function codeOf(attempt: () => unknown): unknown {
  try {
    attempt();
    return null;
  } catch (error) {
    return Reflect.get(Object(error), "code");
  }
}
