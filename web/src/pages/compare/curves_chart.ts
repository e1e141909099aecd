import { createChart, type IChartApi, type ISeriesApi, LineSeries, LineStyle } from "lightweight-charts";
import type { Comparison } from "../../api.ts";
import { chartLook, TIME_SCALE, toChartTime } from "../../parts/chart_look.ts";
import { readColor } from "../../theme/theme.ts";
import { CURVE_TOKENS } from "./swatch.tsx";

const STYLES = [
  LineStyle.Solid,
  LineStyle.Dotted,
  LineStyle.Dashed,
  LineStyle.LargeDashed,
  LineStyle.SparseDotted,
] as const;

/** Curves of several runs on one time scale: returns in percent, and drawdowns under them. */
export class CurvesChart {
  readonly #container: HTMLElement;
  readonly #chart: IChartApi;
  readonly #series: readonly (readonly ISeriesApi<"Line">[])[];

  /** @param onPoint Receives the index of the timestamp under the pointer; null without one. */
  constructor(container: HTMLElement, curves: Comparison["curves"], onPoint: (index: number | null) => void) {
    this.#container = container;
    this.#chart = createChart(container, chartLook(container));
    this.#chart.timeScale().applyOptions(TIME_SCALE);
    const times = curves.timestamps.map((timestamp) => toChartTime(Date.parse(timestamp)));
    const draw = (pane: number, run: number, values: readonly (number | null)[], read: (value: number) => number) => {
      const series = this.#chart.addSeries(LineSeries, {
        ...{
          lineWidth: 2,
          lineStyle: STYLES[run] ?? LineStyle.Solid,
          priceLineVisible: false,
          lastValueVisible: false,
        },
        priceFormat: { type: "custom", minMove: 0.01, formatter: (value: number) => `${value.toFixed(1)}%` },
      }, pane);
      series.setData(times.map((time, i) => {
        const value = values[i];
        return value === null || value === undefined ? { time } : { time, value: read(value) };
      }));
      return series;
    };
    this.#series = curves.equity.map((equity, run) => [
      draw(0, run, equity, (value) => (value - 1) * 100),
      draw(1, run, curves.drawdown[run] ?? [], (value) => -value * 100),
    ]);
    [2.5, 1].forEach((share, i) => this.#chart.panes()[i]?.setStretchFactor(share));
    this.repaint();
    this.#chart.timeScale().fitContent();
    this.#chart.subscribeCrosshairMove(({ logical }) => {
      const at = logical === undefined ? -1 : Math.round(logical);
      onPoint(at >= 0 && at < times.length ? at : null);
    });
  }

  /** Takes the colours of the palette that is shown. */
  repaint(): void {
    this.#chart.applyOptions(chartLook(this.#container));
    this.#series.forEach((each, run) => {
      const color = readColor(CURVE_TOKENS[run] ?? "text");
      for (const series of each) series.applyOptions({ color });
    });
  }

  close(): void {
    this.#chart.remove();
  }
}
