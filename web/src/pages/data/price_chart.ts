import {
  CandlestickSeries,
  createChart,
  HistogramSeries,
  type IChartApi,
  type ISeriesApi,
  type LogicalRange,
} from "lightweight-charts";
import type { Tick } from "../../api.ts";
import { candleLook, chartLook, fade, TIME_SCALE, toChartTime } from "../../parts/chart_look.ts";
import { formatExact } from "../../parts/format.ts";
import { readColor } from "../../theme/theme.ts";

const BAR_PX = 5;
// Earlier candles are asked for when this many are left before the first that is seen.
const NEAR_START_BARS = 200;

/** Told to the page around the chart. */
interface PriceChartEvents {
  /** The candle under the pointer; null without one. */
  onCandle(candle: Tick | null): void;
  /** The view comes near the first candle. */
  onNearStart(): void;
}

/** Candles and their volume, to which earlier ones are added. */
export class PriceChart {
  readonly #container: HTMLElement;
  readonly #chart: IChartApi;
  readonly #prices: ISeriesApi<"Candlestick">;
  readonly #volume: ISeriesApi<"Histogram">;
  readonly #events: PriceChartEvents;
  #candles: readonly Tick[] = [];

  constructor(container: HTMLElement, events: PriceChartEvents) {
    this.#container = container;
    this.#events = events;
    this.#chart = createChart(container, chartLook(container));
    this.#chart.timeScale().applyOptions(TIME_SCALE);
    const quiet = { priceLineVisible: false, lastValueVisible: false } as const;
    const exact = { type: "custom", minMove: 1e-8, formatter: formatExact } as const;
    this.#prices = this.#chart.addSeries(CandlestickSeries, { ...quiet, priceFormat: exact }, 0);
    this.#volume = this.#chart.addSeries(HistogramSeries, { ...quiet, priceFormat: { type: "volume" } }, 1);
    [5, 1].forEach((share, i) => this.#chart.panes()[i]?.setStretchFactor(share));
    this.repaint();
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => this.#onMove(range));
    this.#chart.subscribeCrosshairMove(({ logical }) => {
      events.onCandle(logical === undefined ? null : this.#candles[Math.round(logical)] ?? null);
    });
  }

  /** Draws candles, oldest first; what is seen stays where it is if they end with those drawn before. */
  setCandles(candles: readonly Tick[]): void {
    const scale = this.#chart.timeScale();
    const seen = this.#candles.length === 0 ? null : scale.getVisibleLogicalRange();
    const added = candles.length - this.#candles.length;
    this.#candles = candles;
    this.#prices.setData(candles.map(({ timestamp, open, high, low, close }) => {
      return { time: toChartTime(Date.parse(timestamp)), open, high, low, close };
    }));
    this.#drawVolume();
    if (seen !== null) scale.setVisibleLogicalRange({ from: seen.from + added, to: seen.to + added });
    else scale.setVisibleLogicalRange({ from: candles.length - scale.width() / BAR_PX, to: candles.length + 2 });
  }

  /** Takes the colours of the palette that is shown. */
  repaint(): void {
    this.#chart.applyOptions(chartLook(this.#container));
    this.#prices.applyOptions(candleLook());
    this.#drawVolume();
  }

  close(): void {
    this.#chart.remove();
  }

  #drawVolume(): void {
    const [gain, loss] = [fade(readColor("gain"), 0.5), fade(readColor("loss"), 0.5)];
    this.#volume.setData(this.#candles.map(({ timestamp, open, close, volume }) => {
      return { time: toChartTime(Date.parse(timestamp)), value: volume, color: close < open ? loss : gain };
    }));
  }

  #onMove(range: LogicalRange | null): void {
    if (range !== null && this.#candles.length > 0 && range.from < NEAR_START_BARS) this.#events.onNearStart();
  }
}
