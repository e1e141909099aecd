import { useEffect, useRef, useState } from "react";
import { createChart, type IChartApi, type ISeriesApi, LineSeries, LineStyle } from "lightweight-charts";
import type { Comparison } from "../../api.ts";
import { formatAxisPercent, formatPercent, formatTime } from "../../parts/format.ts";
import { readColor, useShownTheme } from "../../theme/theme.ts";
import { CURVE_TOKENS, Swatch } from "./swatch.tsx";
import { chartLook, TIME_SCALE, toChartTime } from "../../parts/chart_look.ts";

const STYLES = [
  LineStyle.Solid,
  LineStyle.Dotted,
  LineStyle.Dashed,
  LineStyle.LargeDashed,
  LineStyle.SparseDotted,
] as const;

/** Curves of several runs on one time scale: returns in percent, and drawdowns under them. */
class CurvesChart {
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
        priceFormat: { type: "custom", minMove: 0.01, formatter: formatAxisPercent },
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

/** The runs' equity from their common start, and their drawdowns under it. */
export function CurvesCard({ curves }: { readonly curves: Comparison["curves"] }) {
  const container = useRef<HTMLDivElement>(null);
  const chart = useRef<CurvesChart>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const theme = useShownTheme();
  useEffect(() => {
    if (container.current === null) return;
    const made = new CurvesChart(container.current, curves, setPointed);
    chart.current = made;
    return () => made.close();
  }, [curves]);
  useEffect(() => chart.current?.repaint(), [theme]);
  const at = pointed ?? curves.timestamps.length - 1;
  return (
    <section aria-label="Curves" className="rounded-lg border border-line bg-surface">
      <div className="flex min-h-8 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-3 py-1.5 text-xs">
        <p className="text-muted">{formatTime(curves.timestamps[at] ?? null)} UTC</p>
        {curves.equity.map((values, i) => (
          <p key={i} className="flex items-center gap-1.5">
            <Swatch index={i} />
            <span>{formatPercent(growth(values[at]), true)}</span>
            <span className="text-muted">drawdown {formatPercent(curves.drawdown[i]?.[at])}</span>
          </p>
        ))}
      </div>
      <div ref={container} role="img" aria-label="Returns and drawdowns of the runs" className="h-[min(460px,70dvh)]" />
      <p className="border-t border-line px-3 py-1 text-2xs text-muted">
        Above: returns since all runs have begun, {formatTime(curves.timestamps[0] ?? null)}{" "}
        UTC. Below: drawdowns. Charts by{" "}
        <a className="underline" href="https://www.tradingview.com/" rel="noreferrer" target="_blank">TradingView</a>
        {" "}
        Lightweight Charts™.
      </p>
    </section>
  );
}

/** The return at an equity whose start is 1. */
function growth(equity: number | null | undefined): number | null {
  return equity === null || equity === undefined ? null : equity - 1;
}
