/** Runs of scripts for tests. */
import type { Candles } from "../../../../engine/candles.ts";
import { run, type RunResult } from "../../../../engine/run.ts";
import { ScriptStrategy } from "../../../../workers/sandbox/script/strategy.ts";
import { RunError } from "../../../../workers/common/outcome.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { ScriptFault } from "../../../../workers/sandbox/script/fault.ts";
import type { Compile } from "../../../../workers/sandbox/script/run.ts";
import { seriesOf } from "../../../../workers/sandbox/candle_series.ts";
import { ScriptGuest } from "../../../../workers/sandbox/script/guest.ts";
import type { Plot } from "../../../../workers/common/protocol.ts";
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
  compile: Compile = compileScript,
): Promise<Played> {
  const candles = isCandles(over) ? over : dailyCandles(over);
  const task = taskOver(candles, overrides);
  const script = await compile(source);
  return script.reads.run(() => {
    const guests: ScriptGuest[] = [];
    const makeGuest = () => {
      const guest = new ScriptGuest(script, JSON.stringify(parameters), seriesOf(task));
      guests.push(guest);
      return guest;
    };
    const result = run({ ...task, strategy: new ScriptStrategy(makeGuest, 1), control: null });
    const [first] = guests;
    return { result, log: first?.log() ?? [], plots: first?.plots(candles.time.length) ?? [] };
  });
}

/** A script that decides with these lines. */
export function deciding(lines: string, prepare = ""): string {
  return `strategy((parameters) => ({
  prepare(candles) { ${prepare} },
  decide(i, candles, account, orders) { ${lines} },
}));`;
}

/** The message of the author's fault that a run ends with; "none" when it ends well. @throws What is no fault of the author's. */
export async function failureOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return "none";
  } catch (error) {
    if (error instanceof RunError || error instanceof ScriptFault) return error.message;
    throw error;
  }
}

function isCandles(over: Candles | readonly number[]): over is Candles {
  return !Array.isArray(over);
}
