// A longer name is nobody's typing error.
const LENGTH_MAX = 40;
// Of typing errors: more of them make another word.
const EDITS_MAX = 2;
// A longer list hides the name that is wanted.
const LISTED_MAX = 30;
/** A month in other programs, where `1m` is as near as `1M`. */
const MONTH = /^1?[ -]?mo(?:n|nths?)?$/i;

/**
 * Finds the name that somebody probably meant.
 *
 * @returns The first of those with the fewest inserted, left out, changed or swapped characters: at most two, and fewer than half of the name's;
 * undefined where no name is so near.
 */
export function findNearest(name: string, names: readonly string[]): string | undefined {
  if (name.length > LENGTH_MAX) return undefined;
  if (MONTH.test(name) && names.includes("1M")) return "1M";
  let nearest: string | undefined;
  let fewest = Math.min(EDITS_MAX + 1, name.length / 2);
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = countEdits(name.toLowerCase(), candidate.toLowerCase());
    if (edits >= fewest) continue;
    fewest = edits;
    nearest = candidate;
  }
  return nearest;
}

/**
 * The end of a message about a wrong name: the nearest right one, and all of them where they are few.
 *
 * @returns Begins with its punctuation; empty where neither helps.
 */
export function hintNames(name: string, names: readonly string[]): string {
  const nearest = findNearest(name, names);
  const all = names.length === 0 || names.length > LISTED_MAX ? "" : names.join(", ");
  if (nearest === undefined) return all === "" ? "" : `; there are ${all}`;
  return `: did you mean ${nearest}?${all === "" || all === nearest ? "" : ` There are ${all}`}`;
}

/** Levenshtein's distance, with neighbours that changed places as one edit, a row of its table at a time. */
function countEdits(from: string, to: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const change = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwapped ? before[j - 2]! + 1 : Infinity;
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1, swap));
    }
    [before, row] = [row, next];
  }
  return row[to.length]!;
}
