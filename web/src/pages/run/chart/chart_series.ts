import {
  BaselineSeries,
  CandlestickSeries,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  LineSeries,
  LineType,
  PriceScaleMode,
} from "lightweight-charts";
import type { PlotData } from "../../../api.ts";
import { formatAxisPercent, formatExact, formatShortPercent } from "../../../parts/format.ts";
import { candleLook, fade, toChartTime } from "../../../parts/chart_look.ts";
import { readColor } from "../../../theme/theme.ts";
import type { ChartSettings } from "./chart_settings.ts";
import { type ChartMarket, lookIn, type Pane, placeOf, PRICE_PANE, VOLUME } from "./panes.ts";
import type { RunBars } from "./run_bars.ts";
import type { TradeLevel } from "./trade_levels.ts";

/** Says in words what the charts draw. @param market Null in a run over one. @param lines The prices of a trade. */
export function nameCharts(
  market: ChartMarket | null,
  plots: PlotData["plots"],
  hidden: readonly string[],
  lines: readonly TradeLevel[],
): string {
  const candles = `Candles${market === null ? "" : ` of ${market.drawn}`}`;
  const own = ["equity", "drawdown", "position"].filter((key) => !hidden.includes(key));
  const prices = lines.map(({ title, price }) => `${title} at ${formatExact(price)}`);
  return [new Intl.ListFormat("en-GB").format([candles, ...own]), ...plots.map(({ name }) => name), ...prices]
    .join(", ");
}

const EXACT = { type: "custom", minMove: 1e-8, formatter: formatExact } as const;

/**
 * Adds the series of a run; those of a hidden pane are not seen.
 *
 * @param panes Those that are shown. @param isShare True for a position that is a share of the account.
 */
export function addSeries(chart: IChartApi, panes: readonly Pane[], isShare: boolean, hasVolume: boolean) {
  const quiet = (key: string) => ({ priceLineVisible: false, lastValueVisible: false, ...lookIn(panes, key) });
  const percent = { type: "custom", minMove: 0.01, formatter: formatAxisPercent } as const;
  const at = (key: string) => placeOf(panes, key);
  const series = {
    volume: chart.addSeries(HistogramSeries, {
      ...{ priceLineVisible: false, lastValueVisible: false, visible: hasVolume },
      ...{ priceScaleId: VOLUME, priceFormat: { type: "volume" } },
    }, 0),
    candles: chart.addSeries(CandlestickSeries, { ...quiet(PRICE_PANE), priceFormat: EXACT }, 0),
    equity: chart.addSeries(LineSeries, { ...quiet("equity"), lineWidth: 2, priceFormat: EXACT }, at("equity")),
    buyHold: chart.addSeries(
      LineSeries,
      { ...quiet("equity"), lineWidth: 1, lineStyle: 2, priceFormat: EXACT },
      at("equity"),
    ),
    drawdown: chart.addSeries(
      BaselineSeries,
      { ...quiet("drawdown"), lineWidth: 1, priceFormat: percent },
      at("drawdown"),
    ),
    position: chart.addSeries(
      LineSeries,
      {
        ...quiet("position"),
        ...{ lineWidth: 1, lineType: LineType.WithSteps, priceFormat: isShare ? percent : EXACT },
      },
      at("position"),
    ),
  } satisfies Record<string, ISeriesApi<"Candlestick" | "Line" | "Baseline" | "Histogram">>;
  series.volume.priceScale().applyOptions({ scaleMargins: { top: 0.84, bottom: 0 } });
  series.drawdown.priceScale().applyOptions({ scaleMargins: { top: 0.22, bottom: 0.2 } });
  series.equity.priceScale().applyOptions({ scaleMargins: { top: 0.14, bottom: 0.1 } });
  series.position.priceScale().applyOptions({ scaleMargins: { top: 0.3, bottom: 0.15 } });
  return series;
}

export type RunSeries = ReturnType<typeof addSeries>;

/**
 * Divides the scales of prices and equity. Percents count from the run's first candle: the library's own begin each line at zero, so that
 * averages would leave their candles.
 */
export function scaleSeries(
  { candles, equity, buyHold }: RunSeries,
  scale: ChartSettings["scale"],
  { close, equity: [balance] }: RunBars,
): void {
  const since = (start: number | null | undefined) =>
    scale !== "percent" || !start
      ? EXACT
      : { ...EXACT, formatter: (value: number) => formatShortPercent(value / start - 1) };
  const mode = scale === "log" ? PriceScaleMode.Logarithmic : PriceScaleMode.Normal;
  for (const series of [candles, equity]) series.priceScale().applyOptions({ mode });
  candles.applyOptions({ priceFormat: since(close.find((each) => each !== null)) });
  for (const series of [equity, buyHold]) series.applyOptions({ priceFormat: since(balance) });
}

/** Takes the colours of the palette that is shown. */
export function paintSeries({ volume, candles, equity, buyHold, drawdown, position }: RunSeries): void {
  const [text, muted, surface, loss, accent] = ["text", "muted", "surface", "loss", "accent"].map(readColor);
  volume.applyOptions({ color: fade(muted!, 0.3) });
  candles.applyOptions(candleLook());
  equity.applyOptions({ color: accent! });
  buyHold.applyOptions({ color: muted! });
  drawdown.applyOptions({
    ...{ bottomLineColor: loss!, bottomFillColor1: fade(loss!, 0.1), bottomFillColor2: fade(loss!, 0.45) },
    ...{ topLineColor: loss!, topFillColor1: surface!, topFillColor2: surface! },
  });
  position.applyOptions({ color: text! });
}

/** Draws bars. @param isShare True for a position that is a share of the account. */
export function showBars(series: RunSeries, data: RunBars, isShare: boolean): void {
  const at = (bar: number) => toChartTime(data.time[bar]!);
  const bars = data.time.map((_, bar) => bar);
  const line = (values: readonly (number | null)[], factor = 1) =>
    bars.map((bar) => {
      const value = values[bar];
      return value === null || value === undefined ? { time: at(bar) } : { time: at(bar), value: value * factor };
    });
  series.volume.setData(line(data.volume));
  series.candles.setData(bars.map((bar) => {
    const [open, high, low, close] = [data.open[bar], data.high[bar], data.low[bar], data.close[bar]];
    if (open == null || high == null || low == null || close == null) return { time: at(bar) };
    return { time: at(bar), open, high, low, close };
  }));
  series.equity.setData(line(data.equity));
  series.buyHold.setData(line(data.buy_hold));
  series.drawdown.setData(line(data.drawdown, -100));
  series.position.setData(line(data.position, isShare ? 100 : 1));
}
