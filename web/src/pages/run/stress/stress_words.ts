import type { StressTest } from "../../../api.ts";

type Result = NonNullable<StressTest["result"]>;
export type StressRow = Result["rows"][number];
type Regime = Result["regimes"][number];

/** The headings of the table, by the kind of its rows. */
export const GROUP_NAMES: Readonly<Record<StressRow["group"], string>> = {
  as_run: "The run itself",
  costs: "Costs",
  fills: "Fills",
  parameters: "Parameters",
  trades: "Trades left out",
  days: "Days left out",
  years: "Years left out",
};

/** The headings of the regimes. */
export const REGIME_NAMES: Readonly<Record<Regime["group"], string>> = {
  years: "By year",
  benchmark: "By the benchmark's direction",
  volatility: "By the benchmark's volatility",
};

/** The conclusion that a careful reader draws from the table, in a sentence. */
export function describeStress({ rows }: Result): string {
  const changed = rows.filter(({ group, figures }) => group !== "as_run" && figures !== null);
  const losing = changed.filter(({ figures }) => (figures?.total_return ?? 0) <= 0);
  const [asRun] = rows;
  if ((asRun?.figures?.total_return ?? 0) <= 0) {
    return "The run loses by itself, so that no change can take its profit.";
  }
  if (losing.length === 0) return `The run keeps a profit with each of the ${changed.length} changes.`;
  return `Of ${changed.length} changes, ${losing.length} ${losing.length === 1 ? "takes" : "take"} the whole profit.`;
}
