/** Notices scripts that read candles which have not closed, by another run of them that is otherwise for nothing. */
import { viewCandles } from "../../../engine/candles.ts";
import { repeat } from "../../../engine/run.ts";
import { RunError } from "../../common/outcome.ts";
import { seriesOf } from "../candle_series.ts";
import { decideDry } from "../dry_run.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import type { ScriptCheckJob, ScriptJob } from "../task.ts";
import { type CompiledScript, ScriptGuest } from "./guest.ts";
import { MoreWanted } from "./reads.ts";
import { ScriptStrategy } from "./strategy.ts";

/** Candles of a run that are watched. */
const WATCHED_CANDLES = 512;
/** A text that may peek: without any of it, a run has nothing to look for. */
const PEEKING = /\[[^\]\n]*\+[^\]\n]*\]|\.at\s*\(|\.length\b|\blen\s*\(/;

/** Notes of a check. */
export function peeksOfCheck({ parametersJson }: ScriptCheckJob, script: CompiledScript): readonly string[] {
  const makeGuest = () => new ScriptGuest(script, parametersJson, { ...SAMPLE_SERIES, isWatched: true });
  return findPeeks(makeGuest, decideDry);
}

/** Notes of a run's first candles. */
export function peeksOfRun({ source, task, parametersJson }: ScriptJob, script: CompiledScript): readonly string[] {
  if (!PEEKING.test(source)) return [];
  const { candles, firstIndex, seed: _seed, ...settings } = task;
  const until = Math.min(candles.time.length, firstIndex + WATCHED_CANDLES);
  const watched = viewCandles(candles, 0, until);
  const makeGuest = () => new ScriptGuest(script, parametersJson, { ...seriesOf(task), isWatched: true });
  return findPeeks(
    makeGuest,
    (strategy) => repeat({ ...settings, firstIndex, candles: watched, strategy, control: null }),
  );
}

/** @param play Simulates once: a guest serves one simulation. */
function findPeeks(makeGuest: () => ScriptGuest, play: (strategy: ScriptStrategy) => unknown): readonly string[] {
  let guest: ScriptGuest | null = null;
  try {
    play(new ScriptStrategy(() => guest ??= makeGuest(), 1));
  } catch (error) {
    // Watched columns are not everywhere what the script takes them for.
    if (!(error instanceof RunError || error instanceof MoreWanted)) throw error;
  }
  return describePeeks(guest);
}

function describePeeks(guest: ScriptGuest | null): readonly string[] {
  return (guest?.peeks() ?? []).map((place) =>
    `The script reads candles that have not closed, at ${place}. Columns end with the deciding candle, so nothing is there.`
  );
}
