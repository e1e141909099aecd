/**
 * Names the variables that look like mistyped settings, a line each on standard error. The tasks run it before the service, which may
 * read no variable but the settings' own and so cannot see a wrong name.
 */
import { findNearest } from "../market/nearest_name.ts";

/** @returns A line for each name that is nearly a setting's, and none for settings and for names of other programs. */
export function describeMistypedSettings(names: readonly string[], settings: readonly string[]): string[] {
  return names.filter((name) => !settings.includes(name)).toSorted().flatMap((name) => {
    const nearest = isOfOthers(name) ? undefined : findNearest(name, settings);
    return nearest === undefined ? [] : [`${name} is no setting of Hindcast: did you mean ${nearest}?`];
  });
}

/** Short names are near to everything; HOSTNAME and the like are every system's. */
function isOfOthers(name: string): boolean {
  return name.length < 5 || name !== name.toUpperCase();
}

if (import.meta.main) {
  const settings = (await Deno.readTextFile(new URL("variables.txt", import.meta.url))).trim().split(",");
  const lines = describeMistypedSettings(Object.keys(Deno.env.toObject()), settings);
  await Deno.stderr.write(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
}
