import type { BacktestRequest } from "../../../api.ts";
import { isRecord, toField } from "../../../parts/parameter_fields.ts";

const WORDS_MAX = 120;

/** The settings of a run that are not those of another, in words: `fast 12, commission.rate 0.001`. */
export function settingsChanged(before: BacktestRequest, now: BacktestRequest): string {
  const old = new Map(flatten(before.parameters ?? {}, ""));
  const changed = [...flatten(now.parameters ?? {}, "")].filter(([name, value]) => old.get(name) !== value);
  const words = changed.map(([name, value]) => `${name.replace(/^execution\./, "")} ${value}`).join(", ");
  return words.length <= WORDS_MAX ? words : `${words.slice(0, WORDS_MAX - 1)}…`;
}

function* flatten(values: Readonly<Record<string, unknown>>, before: string): Generator<[name: string, value: string]> {
  for (const [key, value] of Object.entries(values)) {
    if (isRecord(value)) yield* flatten(value, `${before}${key}.`);
    else yield [`${before}${key}`, String(toField(value))];
  }
}
