/** Notices scripts that read candles which have not closed, or what is not there, by another run of them that is otherwise for nothing. */
import { viewCandles } from "../../../engine/candles.ts";
import { repeat } from "../../../engine/run.ts";
import { RunError } from "../../common/outcome.ts";
import { seriesOf } from "../candle_series.ts";
import { decideDry } from "../dry_run.ts";
import { SAMPLE_SERIES } from "../sample_candles.ts";
import type { ScriptCheckJob, ScriptJob } from "../task.ts";
import { type CompiledScript, ScriptGuest } from "./guest.ts";
import { MoreWanted } from "./reads.ts";
import type { RealmGuest } from "./realm_guest.ts";
import { ScriptStrategy } from "./strategy.ts";

/** Candles, or marks, of a run that are watched. */
export const WATCHED_CANDLES = 512;
/** A text that may peek, or names what an account does not have: without any of it, a run has nothing to look for. */
const PEEKING = new RegExp(
  [
    /\.at\s*\(|\.length\b|\blen\s*\(/,
    /\baccount\s*\.\s*(?!(?:cash|equity|quantity|entry_?[pP]rice|initial_?[bB]alance|closed_?[tT]rades)\b)\w/,
  ].map(({ source }) => source).join("|"),
);

/** The findings of a watched run. */
interface Watched {
  /** Notes about reads of candles that have not closed. */
  readonly peeks: readonly string[];
  /** Members that were read and are not there, each with its place. */
  readonly unknown: readonly string[];
}

/** Notes of a check. @throws {RunError} for a script that reads members which are not there. */
export function peeksOfCheck({ source, parametersJson }: ScriptCheckJob, script: CompiledScript): readonly string[] {
  const series = { ...SAMPLE_SERIES, isWatched: true };
  return refuseUnknown(
    source,
    findPeeks((keep) => decideDry(new ScriptStrategy(() => keep(new ScriptGuest(script, parametersJson, series)), 1))),
  );
}

/** Notes of a run's first candles. */
export function peeksOfRun({ source, task, parametersJson }: ScriptJob, script: CompiledScript): readonly string[] {
  if (!mayPeek(source)) return [];
  const { candles, firstIndex, seed: _seed, ...settings } = task;
  const until = Math.min(candles.time.length, firstIndex + WATCHED_CANDLES);
  const watched = viewCandles(candles, 0, until);
  const series = { ...seriesOf(task), isWatched: true };
  return notesOf(findPeeks((keep) => {
    const strategy = new ScriptStrategy(() => keep(new ScriptGuest(script, parametersJson, series)), 1);
    repeat({ ...settings, firstIndex, candles: watched, strategy, control: null });
  }));
}

/** True if a run of a text has something to look for. */
export function mayPeek(source: string): boolean {
  return PEEKING.test(source) || hasSumInBrackets(source);
}

/** True of `[i + 1]` in a line. Its time does not grow faster than the text, which a regular expression's would. */
function hasSumInBrackets(source: string): boolean {
  const texts = source.split("]").slice(0, -1);
  return texts.some((text) => {
    const open = text.indexOf("[", text.lastIndexOf("\n") + 1);
    return open >= 0 && text.lastIndexOf("+") > open;
  });
}

/** @param play Simulates once, with a watched guest, which it gives to `keep`. */
export function findPeeks(play: (keep: <Guest extends RealmGuest>(guest: Guest) => Guest) => void): Watched {
  let guest: RealmGuest | null = null;
  try {
    play((made) => {
      guest = made;
      return made;
    });
  } catch (error) {
    // Watched columns are not everywhere what the script takes them for.
    if (!(error instanceof RunError || error instanceof MoreWanted)) throw error;
  }
  return describe(guest);
}

/** The notes of a check. @throws {RunError} for a script that reads members which are not there: it would go on with `undefined`. */
export function refuseUnknown(source: string, { peeks, unknown }: Watched): readonly string[] {
  const first = unknown.find((each) => isNeverSet(source, each));
  if (first === undefined) return peeks;
  throw new RunError("STRATEGY_FAILED", first);
}

/** The notes of a run. */
export function notesOf({ peeks, unknown }: Watched): readonly string[] {
  const others = unknown.filter((each) => !OWN.test(each));
  return [...peeks, ...others.map((each) => `The script reads what is not there: ${each}`)];
}

/** A finding about a member of the strategy's own, by its name. */
const OWN = /^this\.(\S+) at /;
/** A text that may give an object members without their names, or have them from elsewhere. */
const COMPUTED =
  /\bObject\s*\.\s*(?:assign|define\w+|fromEntries|setPrototypeOf)\b|\b(?:Reflect|Proxy|extends)\b|\bthis\s*(?:\?\.\s*)?\[|[,{]\s*\.\.\./;
// A blank belongs to one repetition alone, so that a long text of them is read once.
const ASSIGNS = /^\s*(?:!\s*)?(?:=(?![=>])|(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)=|\+\+|--)/;

/**
 * True of a finding, unless it is about a member of the strategy's own that some line may set. Lines that a check does not reach may,
 * so a text must name the member in nothing but reads.
 */
function isNeverSet(source: string, finding: string): boolean {
  const name = OWN.exec(finding)?.[1];
  if (name === undefined) return true;
  if (COMPUTED.test(source) || !/^[a-z_$][\w$]*$/i.test(name)) return false;
  const places = source.matchAll(new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`, "g"));
  return [...places].every(({ index }) => {
    const before = source.slice(Math.max(0, index - 100), index);
    return /(?<!\+\+\s*|--\s*|\bdelete\s+)\bthis\s*\??\.\s*$/.test(before) &&
      !ASSIGNS.test(source.slice(index + name.length));
  });
}

function describe(guest: RealmGuest | null): Watched {
  const peeks = (guest?.peeks() ?? []).map((place) =>
    `The script reads candles that have not closed, at ${place}. Columns end with the deciding candle, so nothing is there.`
  );
  return { peeks, unknown: guest?.unknown() ?? [] };
}
