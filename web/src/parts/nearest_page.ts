/** The page that an address without one most likely means. */

/** A page, and the words by which people and programs call it. */
interface Known {
  readonly to: string;
  readonly label: string;
  readonly words: readonly string[];
  /** True where the rest of the address names one of its records. */
  readonly hasRecords?: true;
}

const PAGES: readonly Known[] = [
  { to: "/runs", label: "your runs", words: ["runs", "backtests", "results", "home", "dashboard"], hasRecords: true },
  { to: "/runs/new", label: "a new run", words: ["new", "create", "submit"] },
  {
    to: "/optimizations",
    label: "your optimizations",
    words: ["optimizations", "optimize", "scans"],
    hasRecords: true,
  },
  { to: "/strategies", label: "the strategies", words: ["strategies", "strategy", "scripts"], hasRecords: true },
  { to: "/universes", label: "the universes", words: ["universes", "portfolios"], hasRecords: true },
  { to: "/compare", label: "the comparison of runs", words: ["compare", "comparison"] },
  { to: "/data", label: "the market data", words: ["data", "market-data", "instruments", "candles", "symbols"] },
  {
    to: "/account",
    label: "your account",
    words: ["account", "tokens", "sessions", "settings", "profile", "password"],
  },
  { to: "/admin", label: "the administration", words: ["admin", "users", "ingestion"] },
  { to: "/sign-in", label: "the sign-in", words: ["sign-in", "login", "signin"] },
  { to: "/sign-up", label: "the form for an account", words: ["sign-up", "signup", "register"] },
];
const FIRST = PAGES[0]!;
const EDITS_MAX = 2;
const WORD_MIN = 3;

/** The nearest page of an address. @returns Its address, with the record that the given one names, and its words. */
export function nearestPage(path: string): { readonly href: string; readonly label: string } {
  const [word = "", ...rest] = path.toLowerCase().split("/").filter((part) => part !== "");
  const ranked = PAGES.map((page) => ({ page, edits: Math.min(...page.words.map((each) => distance(word, each))) }))
    .toSorted((a, b) => a.edits - b.edits);
  const [{ page, edits } = { page: FIRST, edits: Infinity }] = ranked;
  if (edits > EDITS_MAX) return { href: FIRST.to, label: FIRST.label };
  const [record] = rest;
  const isOther = page.hasRecords && rest.length === 1 && record !== undefined && `/${word}` !== page.to;
  // An address that names its page rightly has a record that is not there.
  return isOther
    ? { href: `${page.to}/${path.split("/").findLast((part) => part !== "")}`, label: `${page.to}/${record}` }
    : { href: page.to, label: page.label };
}

/** How far a typed word is from a known one: 0 for the same, and for a beginning of it. */
function distance(typed: string, known: string): number {
  if (typed === known) return 0;
  if (typed.length >= WORD_MIN && (known.startsWith(typed) || typed.startsWith(known))) return 0.5;
  return countEdits(typed, known);
}

/** Letters to insert, remove or replace, by the rows of Wagner and Fischer's table. */
function countEdits(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, wanted] of [...other].entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}
