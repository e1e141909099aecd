/**
 * Makes the code that runs scripts quick in a process that waits for its job: V8 compiles what has run often. Each realm has code of
 * its own, so those in which our strategy has run are left to the script.
 */
import { createControl } from "../../../engine/control.ts";
import { resolveExecution } from "../../../engine/execution.ts";
import { encodeFrame } from "../frames.ts";
import { SAMPLE_TIMEFRAME_MS, sampleCandles } from "../sample_candles.ts";
import type { ScriptJob } from "../task.ts";
import { compileScript, makeLastingRealm } from "./compile.ts";
import { doScriptJob } from "./run.ts";

/** More rounds gain less than they take. */
const ROUNDS = 4;
const CANDLES = 2048;
/** A strategy of ours, with indicators, orders and stops. */
const SOURCE = `strategy(() => ({
  prepare({ close }) { this.quick = sma(close, 3); this.calm = sma(close, 8); },
  decide(i, candles, account, orders) {
    if (crossesAbove(this.quick, this.calm, i)) orders.buy({ stopLossFraction: 0.1 });
    else if (account.quantity > 0 && crossesBelow(this.quick, this.calm, i)) orders.close();
  },
}));`;

/**
 * Runs a strategy of ours over made-up candles, until there is a job.
 *
 * @param isIdle Asked before each round.
 * @returns Rounds that were completed.
 */
export async function warmUp(isIdle: () => boolean): Promise<number> {
  // For a script that is made, for the same with the candles that it asked for, and for its check.
  const realms = [makeLastingRealm(SOURCE), makeLastingRealm(SOURCE), makeLastingRealm(SOURCE)];
  const job: ScriptJob = {
    ...{ kind: "script", language: "typescript", source: SOURCE, parametersJson: "{}" },
    ...{ candlesMin: 1, lookbackWanted: null },
    task: {
      ...{ candles: sampleCandles(CANDLES), firstIndex: 0, timeframeMs: SAMPLE_TIMEFRAME_MS, initialBalance: 10_000 },
      ...{ execution: resolveExecution({}, "crypto"), assetClass: "crypto", tradingDays: null, finer: null, seed: 1 },
    },
  };
  const compile = async (source: string) => {
    const script = await compileScript(source);
    return { ...script, open: () => realms[done % 2]!.open(), openAgain: () => realms[2]!.open() };
  };
  const watch = { control: createControl(), report: () => {}, countIn: () => {} };
  let done = 0;
  while (done < ROUNDS && isIdle()) {
    // The first one must not take what another has left.
    if (done === 0) { for (const realm of realms) realm.open(); }
    const outcome = await doScriptJob(job, watch, compile);
    encodeFrame(outcome);
    if (outcome.type !== "completed") break;
    done++;
    for (const realm of realms) realm.leave();
    // A job that has come meanwhile is taken now.
    await new Promise((resume) => setTimeout(resume));
  }
  return done;
}
