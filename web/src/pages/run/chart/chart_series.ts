import {
  BaselineSeries,
  CandlestickSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineType,
} from "lightweight-charts";
import { formatExact } from "../../../parts/format.ts";
import type { RunBars } from "./run_bars.ts";

/** Stretch factors of the run's own panes; with the others, a share is as high whatever was plotted. */
const PANE_SHARES = [5, 3, 1.4, 1];

/** The market that the chart of a run over many shows. */
export interface ChartMarket {
  /** The market whose candles are drawn, and whose fills are marked: `SPY@ARCA`. */
  readonly drawn: string;
  /** The one that equity is compared with. */
  readonly benchmark: string;
}

/** The titles of the panes. @param market Null in a run over one. */
export function titlesOf(market: ChartMarket | null): readonly string[] {
  if (market === null) return ["Price", "Equity, and buy & hold (dashed)", "Drawdown", "Position"];
  const { drawn, benchmark } = market;
  return [drawn, `Equity, and buy & hold of ${benchmark} (dashed)`, "Drawdown", "Net exposure"];
}

/** Says in words what the charts draw. @param market Null in a run over one. */
export function nameCharts(market: ChartMarket | null, { plots }: Pick<RunBars, "plots">): string {
  const own = `Candles${market === null ? "" : ` of ${market.drawn}`}, equity, drawdown and position`;
  return [own, ...plots.map(({ name }) => name)].join(", ");
}

/** Adds the series of a run, in a pane each. @param isShare True for a position that is a share of the account. */
export function addSeries(chart: IChartApi, isShare: boolean) {
  const quiet = { priceLineVisible: false, lastValueVisible: false } as const;
  const exact = { type: "custom", minMove: 1e-8, formatter: formatExact } as const;
  const percent = { type: "custom", minMove: 0.01, formatter: (value: number) => `${value.toFixed(1)}%` } as const;
  const series = {
    candles: chart.addSeries(CandlestickSeries, { ...quiet, priceFormat: exact }, 0),
    equity: chart.addSeries(LineSeries, { ...quiet, lineWidth: 2, priceFormat: exact }, 1),
    buyHold: chart.addSeries(LineSeries, { ...quiet, lineWidth: 1, lineStyle: 2, priceFormat: exact }, 1),
    drawdown: chart.addSeries(BaselineSeries, { ...quiet, lineWidth: 1, priceFormat: percent }, 2),
    position: chart.addSeries(
      LineSeries,
      { ...quiet, lineWidth: 1, lineType: LineType.WithSteps, priceFormat: isShare ? percent : exact },
      3,
    ),
  } satisfies Record<string, ISeriesApi<"Candlestick" | "Line" | "Baseline">>;
  series.drawdown.priceScale().applyOptions({ scaleMargins: { top: 0.22, bottom: 0.2 } });
  series.equity.priceScale().applyOptions({ scaleMargins: { top: 0.14, bottom: 0.1 } });
  series.position.priceScale().applyOptions({ scaleMargins: { top: 0.3, bottom: 0.15 } });
  const panes = chart.panes();
  PANE_SHARES.forEach((share, i) => panes[i]?.setStretchFactor(share));
  return series;
}
