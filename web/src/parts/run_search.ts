/** The parts of a run's page below its charts. */
export const RUN_TABS = [
  "overview",
  "portfolio",
  "trades",
  "orders",
  "metrics",
  "monte-carlo",
  "stress",
  "assumptions",
  "log",
] as const;
export type RunTab = (typeof RUN_TABS)[number];

/** The state of a run's page that its address keeps. */
interface RunSearch {
  readonly tab?: RunTab;
  /** The market whose trades are shown, such as `SPY@ARCA`. */
  readonly market?: string;
  /** The market whose candles the charts show. */
  readonly chart?: string;
  /** The number of the trade that the charts show. */
  readonly trade?: number;
  /** The stretch that the charts show, in milliseconds since 1970: `1704067200000-1706745600000`. */
  readonly view?: string;
  /** The panel for changes is open. */
  readonly change?: true;
}

export function readRunSearch(search: Record<string, unknown>): RunSearch {
  const tab = RUN_TABS.find((name) => name === search["tab"]);
  const { market, chart, trade, view, change } = search;
  return {
    ...(tab === undefined ? {} : { tab }),
    ...(typeof market === "string" ? { market } : {}),
    ...(typeof chart === "string" ? { chart } : {}),
    ...(typeof view === "string" && /^\d{1,15}-\d{1,15}$/.test(view) ? { view } : {}),
    ...(change === true ? { change } : {}),
    ...(Number.isSafeInteger(trade) ? { trade: Number(trade) } : {}),
  };
}
