import { dirname, join } from "node:path";

/** Values that no product file imports and that are exported all the same, and why. Types are free: a test may name what a function takes. */
const REASONS: readonly (readonly [why: string, names: RegExp])[] = [
  ["a limit or a bound: a page says it, and tests go up to it", /:[A-Z_]+_(MAX|MIN|LIMITS|ROWS)$|:FIRST_POINTS$/],
  ["what a page lists", /:(METRIC_NAMES|SAMPLES|EXECUTION_AXES|TOOLS|SETTINGS_FILES)$/],
  ["a program: tests start it in their process", /^main\.ts:|^cli\/(demo|hindcast\/main|launch)\.ts:|^web\/build\.ts:/],
  ["what a package gives to its users", /^client\/index\.ts:/],
  ["declares a package or a table", /\.d\.ts:|:(runMembers|optimizationMembers)$/],
  ["a feed: its test gives it the address of a stand-in and a clock", /^market\/feeds\/\w+\.ts:\w+Feed$/],
  ["the source of a file that is made from it", /:DRIVER_TEXT$/],
  [
    "what a bench compares with another's",
    /^engine\/run\.ts:simulate$|^workers\/sandbox\/python\/interpreter\.ts:resume$/,
  ],
  ["the whole of what the parts compute, for a second implementation", /^research\/overfitting\.ts:measureLuck$/],
  ["procedures without HTTP", /^routers\/common\/trpc\.ts:createCallerFactory$/],
  [
    "a step whose cases only a test by hand tells apart",
    /:(pointsPerUnit|splitObservations|findRow|embed|describeError|measureSpread|refillAtHalf|describeDialect)$/,
  ],
  [
    "a part with a state of its own, whose orders of calls a test makes",
    /:(RateLimiter|InFlight|MEASURED_OBJECTIVES)$/,
  ],
  ["candles without a run: damage and splits are told from each read", /:read(Backtest|Finer)Candles$/],
];

const IMPORT = /(?:import|export)\s+(?:type\s+)?(?:\*\s+as\s+\w+|(\*)|\{([^}]*)\})\s+from\s+"(\.[^"]+)"/g;
const DYNAMIC = /import\(\s*"(\.[^"]+)"\s*\)/g;
const VALUE = /^export (?:async )?(?:const|function\*?|class) (\w+)/gm;

/**
 * The exported values that no other product file imports.
 *
 * @param texts The product files' paths and what is in them.
 * @returns A complaint for each that no reason allows.
 */
export function findLoneExports(texts: ReadonlyMap<string, string>): string[] {
  const taken = new Set<string>();
  for (const [path, text] of texts) {
    const at = (specifier: string) => join(dirname(path), specifier);
    for (const [, , names, specifier] of text.matchAll(IMPORT)) {
      const all = names === undefined ? ["*"] : names.split(",").map((name) => name.trim().replace(/^type /, ""));
      for (const name of all) taken.add(`${at(specifier!)}:${name.split(" as ")[0]}`);
    }
    for (const [, specifier] of text.matchAll(DYNAMIC)) taken.add(`${at(specifier!)}:*`);
  }
  return [...texts].flatMap(([path, text]) =>
    taken.has(`${path}:*`) ? [] : [...text.matchAll(VALUE)].map(([, name]) => `${path}:${name}`)
  )
    .filter((each) => !taken.has(each) && !REASONS.some(([, names]) => names.test(each)))
    .map((each) =>
      `${each} is exported and no product file imports it: test it through what does, and drop the export`
    );
}
