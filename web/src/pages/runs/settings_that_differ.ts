import type { BacktestSummary } from "../../api.ts";

/** The settings that tell a run from the list's other runs of its strategy, by the run's id: `fast 5, slow 30`. */
export function settingsThatDiffer(
  runs: readonly Pick<BacktestSummary, "id" | "strategy" | "settings">[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const group of Map.groupBy(runs, ({ strategy }) => strategy).values()) {
    const names = [...new Set(group.flatMap(({ settings }) => Object.keys(settings)))];
    const differing = names.filter((name) => new Set(group.map(({ settings }) => settings[name])).size > 1);
    for (const { id, settings } of group) {
      const words = differing.filter((name) => name in settings).map((name) => `${name} ${settings[name]}`);
      found.set(id, words.join(", "));
    }
  }
  return found;
}

/**
 * The line below a run's name: the settings that tell it from others; where none do, and it has no name of its own, those that differ from
 * the strategy's defaults.
 */
export function settingsBelow(
  { name, strategy, default_name }: Pick<BacktestSummary, "name" | "strategy" | "default_name">,
  differing: string,
): string {
  return differing || (name === null ? default_name.slice(`${strategy}: `.length) : "");
}
