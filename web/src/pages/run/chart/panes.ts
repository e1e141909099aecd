import type { BacktestResult, PlotData } from "../../../api.ts";

export const PRICE_PANE = "price";
/** The volume lies in the pane of the candles. */
export const VOLUME = "volume";

/** The market that the chart of a run over many shows. */
export interface ChartMarket {
  /** The market whose candles are drawn, and whose fills are marked: `SPY@ARCA`. */
  readonly drawn: string;
  /** The one that equity is compared with. */
  readonly benchmark: string;
}

/** False for a benchmark that the run does not trade. @param market Null in a run over one. */
export function isTraded(result: BacktestResult | null, market: ChartMarket | null): boolean {
  return market === null ||
    (result?.portfolio?.contributions.some(({ instrument }) => instrument === market.drawn) ?? false);
}

/** A pane of a run's charts. */
export interface Pane {
  readonly key: string;
  readonly title: string;
  /** Of the height, beside those of the others. */
  readonly share: number;
}

/** The panes of plots below the candles, in the order of their first plot. */
export function ownPanes(plots: PlotData["plots"]): readonly string[] {
  return [...new Set(plots.map(({ pane }) => pane))].filter((pane) => pane !== PRICE_PANE);
}

/** The panes of a run's plots below the candles. */
export function plotPanes(plots: PlotData["plots"]): readonly Pane[] {
  return ownPanes(plots).map((name) => ({ key: keyOf(name), title: name, share: 2 }));
}

/** The key of the pane that a plot names. */
export function keyOf(pane: string): string {
  return pane === PRICE_PANE ? pane : `plots ${pane}`;
}

/** All panes of a run, the candles first. @param market Null in a run over one. */
export function panesOf(market: ChartMarket | null, plots: PlotData["plots"]): readonly Pane[] {
  const held = market === null ? "buy & hold" : `buy & hold of ${market.benchmark}`;
  return [
    { key: PRICE_PANE, title: market?.drawn ?? "Price", share: 5 },
    { key: "equity", title: `Equity, and ${held} (dashed)`, share: 3 },
    { key: "drawdown", title: "Drawdown", share: 1.4 },
    { key: "position", title: market === null ? "Position" : "Net exposure", share: 1 },
    ...plotPanes(plots),
  ];
}

/** The index of a pane; that of the candles where it is hidden. */
export function placeOf(panes: readonly Pick<Pane, "key">[], key: string): number {
  return Math.max(0, panes.findIndex((pane) => pane.key === key));
}

/** Options of a series of a pane. One of a hidden pane waits among the candles, on a scale of its own. */
export function lookIn(panes: readonly Pick<Pane, "key">[], key: string) {
  return panes.some((pane) => pane.key === key) ? {} : { visible: false, priceScaleId: `hidden ${key}` };
}
