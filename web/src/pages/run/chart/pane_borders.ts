import type { IChartApi } from "lightweight-charts";
import type { ChartSettings } from "./chart_settings.ts";
import type { Pane } from "./panes.ts";

/** The border between a pane and the one below it. */
export interface PaneBorder {
  readonly key: string;
  /** Of the upper pane. */
  readonly title: string;
  /** Pixels below the top of the charts. */
  readonly top: number;
  /** The upper pane's part of the height of both. */
  readonly percent: number;
}

/** The heights of the panes beside each other, by their keys. */
export function readShares(chart: IChartApi, panes: readonly Pane[]): ChartSettings["shares"] {
  const drawn = chart.panes();
  return Object.fromEntries(panes.map(({ key }, i) => [key, drawn[i]?.getStretchFactor() ?? 1]));
}

/** The borders between the panes of a chart. */
export function readBorders(chart: IChartApi, panes: readonly Pane[]): readonly PaneBorder[] {
  const heights = chart.panes().map((pane) => pane.getHeight());
  let top = 0;
  return panes.slice(0, -1).map(({ key, title }, i) => {
    const [upper = 0, lower = 0] = heights.slice(i, i + 2);
    // A line of a pixel lies between two panes.
    top += upper + 1;
    return { key, title, top, percent: 100 * upper / (upper + lower || 1) };
  });
}

/** The heights of the panes when the upper one of a border has a part of both heights. @param i The border's place. */
export function moveBorder(
  chart: IChartApi,
  panes: readonly Pane[],
  i: number,
  percent: number,
): ChartSettings["shares"] {
  const shares = readShares(chart, panes);
  const [upper, lower] = [panes[i]!.key, panes[i + 1]!.key];
  const both = shares[upper]! + shares[lower]!;
  return { ...shares, [upper]: both * percent / 100, [lower]: both * (1 - percent / 100) };
}
