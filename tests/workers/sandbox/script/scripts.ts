/** Runs of scripts for tests. */
import type { Candles } from "../../../../engine/candles.ts";
import { run, type RunResult } from "../../../../engine/run.ts";
import { GuestStrategy } from "../../../../workers/sandbox/player.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { type Plot, ScriptGuest } from "../../../../workers/sandbox/script/guest.ts";
import type { SandboxTask } from "../../../../workers/sandbox/task.ts";
import { dailyCandles, taskOver } from "../wasm/modules.ts";

/** A run of a script, with what the script logged and plotted. */
export interface Played {
  readonly result: RunResult;
  readonly log: readonly string[];
  readonly plots: readonly Plot[];
}

/** Runs a script over candles, or over candles that close at these prices. */
export async function playScript(
  source: string,
  over: Candles | readonly number[],
  { parameters = {}, ...overrides }: Partial<SandboxTask> & { readonly parameters?: object } = {},
): Promise<Played> {
  const guest = new ScriptGuest(await compileScript(source), JSON.stringify(parameters));
  const candles = isCandles(over) ? over : dailyCandles(over);
  const strategy = new GuestStrategy(() => guest, 1);
  const result = run({ ...taskOver(candles, overrides), strategy, control: null });
  return { result, log: guest.log(), plots: guest.plots(candles.time.length) };
}

/** A script that decides with these lines. */
export function deciding(lines: string, prepare = ""): string {
  return `strategy((parameters) => ({
  prepare(candles) { ${prepare} },
  decide(i, candles, account, orders) { ${lines} },
}));`;
}

/** The message of the error that a run ends with; "none" when it ends well. */
export async function failureOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return "none";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function isCandles(over: Candles | readonly number[]): over is Candles {
  return !Array.isArray(over);
}
