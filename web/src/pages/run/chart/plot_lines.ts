import { type IChartApi, type ISeriesApi, LineSeries, LineStyle } from "lightweight-charts";
import type { PlotData } from "../../../api.ts";
import { toChartTime } from "../../../parts/chart_look.ts";
import { formatExact } from "../../../parts/format.ts";
import { readColor } from "../../../theme/theme.ts";
import { keyOf, lookIn, type Pane, placeOf } from "./panes.ts";

/** The tokens of the lines' colours; further lines have other styles. */
const TOKENS = ["accent", "warn", "gain", "loss", "muted", "text"] as const;
const STYLES = [LineStyle.Solid, LineStyle.Dashed, LineStyle.Dotted] as const;
const DASHES = ["", "6 4", "2 3"] as const;
// A line has no extent where a strategy plotted few values.
const MARKED_MAX = 60;
export const PLOT_PANE_PX = 110;

/** The look of a plot's line, by its place. */
export function plotLook(place: number): { readonly token: string; readonly style: LineStyle; readonly dash: string } {
  const style = Math.floor(place / TOKENS.length) % STYLES.length;
  return { token: TOKENS[place % TOKENS.length]!, style: STYLES[style]!, dash: DASHES[style]! };
}

/** The lines that a strategy plotted, over the candles of a chart and in panes below. */
export class PlotLines {
  readonly #series: readonly ISeriesApi<"Line">[];

  /** @param panes Those that are shown, in their order. */
  constructor(chart: IChartApi, plots: PlotData["plots"], panes: readonly Pick<Pane, "key">[]) {
    const priceFormat = { type: "custom", minMove: 1e-8, formatter: formatExact } as const;
    this.#series = plots.map(({ pane }, place) =>
      chart.addSeries(LineSeries, {
        ...{ priceFormat, lineWidth: 1, lineStyle: plotLook(place).style },
        ...{ priceLineVisible: false, lastValueVisible: false, ...lookIn(panes, keyOf(pane)) },
      }, placeOf(panes, keyOf(pane)))
    );
    for (const series of this.#series) {
      if (series.getPane().paneIndex() > 0) {
        series.priceScale().applyOptions({ scaleMargins: { top: 0.25, bottom: 0.1 } });
      }
    }
  }

  /** @param time Of each bar. @param values Of each plot, a value per bar. */
  show(time: readonly number[], values: PlotData["values"]): void {
    this.#series.forEach((series, place) => {
      const points = time.map((ms, bar) => {
        const value = values[place]?.[bar];
        return value == null ? { time: toChartTime(ms) } : { time: toChartTime(ms), value };
      });
      series.setData(points);
      series.applyOptions({ pointMarkersVisible: points.filter((point) => "value" in point).length <= MARKED_MAX });
    });
  }

  /** Takes the colours of the palette that is shown. */
  repaint(): void {
    this.#series.forEach((series, place) => series.applyOptions({ color: readColor(plotLook(place).token) }));
  }
}
