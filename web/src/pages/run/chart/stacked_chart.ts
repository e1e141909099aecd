import {
  createChart,
  createTextWatermark,
  type IChartApi,
  type IPriceLine,
  type LogicalRange,
} from "lightweight-charts";
import { chartLook, TIME_SCALE, timeLook, toChartTime } from "../../../parts/chart_look.ts";
import type { Timeframe } from "../../../parts/candle_timeframes.ts";
import { readColor } from "../../../theme/theme.ts";
import { addSeries, paintSeries, type RunSeries, scaleSeries, showBars } from "./chart_series.ts";
import { type ChartMarket, type Pane, panesOf, VOLUME } from "./panes.ts";
import { CoarseOverlay, type LoadCoarse } from "./coarse_candles.ts";
import { moveBorder, type PaneBorder, readBorders, readShares } from "./pane_borders.ts";
import { FillMarks, type LoadFills } from "./fill_marks.ts";
import type { ChartSettings } from "./chart_settings.ts";
import type { TradeLevel } from "./trade_levels.ts";
import {
  barsOf,
  type ChartView,
  type ChartWindow,
  chooseWindow,
  lastAtMost,
  seenStretch,
  stepFor,
  windowAround,
} from "./chart_window.ts";
import { PlotLines } from "./plot_lines.ts";
import type { LoadedFills, RunBars } from "./run_bars.ts";

const BARS_MAX = 1_000;
const SETTLE_MS = 60;
/** Candles beside a stretch that is shown, at least. */
const ROOM_MIN = 40;

/** Told to the page around the chart. */
interface ChartEvents {
  /** The bar under the pointer, by its index in the data; null without one. */
  onBar(data: RunBars, bar: number | null): void;
  /** A bar that was clicked or reached by a key. */
  onPick(data: RunBars, bar: number): void;
  /** The fills in view, and maybe around it, once they are there. */
  onFills(fills: LoadedFills): void;
  /** The times of the first and the last bar in view, the fills between them, and whether each is drawn. */
  onView(data: RunBars, fromMs: number, toMs: number, fills: number, areDrawn: boolean): void;
  /** The same two times when a move has ended; null where the whole run is in view. */
  onSettle(view: ChartView | null): void;
  /** The heights of the panes after one was dragged, by their keys. */
  onShares(shares: Readonly<Record<string, number>>): void;
}

/** The charts of a run, one above the other on one time scale: candles, equity, drawdown, position, and what the strategy plotted. */
export class StackedChart {
  readonly #container: HTMLElement;
  readonly #chart: IChartApi;
  readonly #series: RunSeries;
  readonly #marks: FillMarks;
  readonly #coarse: CoarseOverlay;
  readonly #plots: PlotLines;
  readonly #panes: readonly Pane[];
  readonly #start: RunBars;
  readonly #titles;
  readonly #leave = new AbortController();
  readonly #load: (window: ChartWindow) => Promise<RunBars>;
  readonly #events: ChartEvents;
  readonly #market: ChartMarket | null;
  #data: RunBars;
  #levels: readonly TradeLevel[] = [];
  readonly #lines: IPriceLine[] = [];
  #settle: ReturnType<typeof setTimeout> | undefined;
  #loading = 0;
  #shares = "";
  #isClosed = false;

  /** @param data The whole run. @param load Gives the bars of a window. @param loadFills Null where nothing is traded. @param market Null in a run over one market. */
  constructor(
    container: HTMLElement,
    data: RunBars,
    { load, loadFills, loadCoarse, market, events, hidden }: {
      readonly load: (window: ChartWindow) => Promise<RunBars>;
      readonly loadFills: LoadFills | null;
      readonly loadCoarse: LoadCoarse;
      readonly market: ChartMarket | null;
      readonly events: ChartEvents;
      readonly hidden: ChartSettings["hidden"];
    },
  ) {
    this.#market = market;
    this.#data = data;
    this.#start = data;
    this.#load = load;
    this.#events = events;
    this.#container = container;
    this.#chart = createChart(container, chartLook(container));
    this.#chart.timeScale().applyOptions(TIME_SCALE);
    const panes = panesOf(market, data.plots).filter(({ key }) => !hidden.includes(key));
    this.#panes = panes;
    this.#series = addSeries(this.#chart, panes, market !== null, !hidden.includes(VOLUME));
    this.#plots = new PlotLines(this.#chart, data.plots, panes);
    this.#marks = new FillMarks(this.#series.candles, loadFills, (fills) => {
      if (this.#isClosed) return;
      this.#events.onFills(fills);
      this.#drawTrades();
    });
    this.#coarse = new CoarseOverlay(loadCoarse);
    this.#series.candles.attachPrimitive(this.#coarse);
    this.#titles = this.#chart.panes().map((pane) =>
      createTextWatermark(pane, { horzAlign: "left", vertAlign: "top" })
    );
    this.repaint();
    this.#show(data);
    this.#chart.timeScale().fitContent();
    this.#chart.timeScale().subscribeVisibleLogicalRangeChange((range) => this.#onMove(range));
    const barAt = (logical: number | undefined) => {
      const bar = logical === undefined ? -1 : Math.round(logical);
      return bar >= 0 && bar < this.#data.time.length ? bar : null;
    };
    this.#chart.subscribeCrosshairMove(({ logical }) => this.#events.onBar(this.#data, barAt(logical)));
    this.#chart.subscribeClick(({ logical }) => {
      const bar = barAt(logical);
      if (bar !== null) this.#events.onPick(this.#data, bar);
    });
    addEventListener("pointerup", () => this.#noticeShares(), { signal: this.#leave.signal });
  }

  /** Divides the scales, the height and the time as a person wants them. @param zone IANA name. */
  arrange({ scale, shares }: Pick<ChartSettings, "scale" | "shares">, zone: string): void {
    scaleSeries(this.#series, scale, this.#start);
    const panes = this.#chart.panes();
    this.#panes.forEach(({ key, share }, i) => panes[i]?.setStretchFactor(shares[key] ?? share));
    this.#shares = JSON.stringify(readShares(this.#chart, this.#panes));
    this.#chart.applyOptions(timeLook(zone));
  }

  readBorders(): readonly PaneBorder[] {
    return readBorders(this.#chart, this.#panes);
  }

  /** Gives the pane above a border a part of the height of both. @param i The border's place. */
  moveBorder(i: number, percent: number): void {
    this.#events.onShares(moveBorder(this.#chart, this.#panes, i, percent));
  }

  /** The library does not tell when a pane was dragged. */
  #noticeShares(): void {
    const shares = readShares(this.#chart, this.#panes);
    if (JSON.stringify(shares) !== this.#shares) this.#events.onShares(shares);
  }

  /** Draws longer candles behind the run's own. @param timeframe Undefined: none. */
  setCoarse(timeframe: Timeframe | undefined): void {
    this.#coarse.choose(timeframe);
    this.#drawTrades();
  }

  /** Draws the prices of one trade instead of those drawn before. */
  setLevels(levels: readonly TradeLevel[]): void {
    this.#levels = levels;
    const { candles } = this.#series;
    for (const line of this.#lines.splice(0)) candles.removePriceLine(line);
    for (const { price, title, color } of levels) {
      this.#lines.push(candles.createPriceLine({ price, title, color: readColor(color), lineWidth: 1, lineStyle: 2 }));
    }
  }

  /** Takes the colours of the palette that is shown. */
  repaint(): void {
    this.#chart.applyOptions(chartLook(this.#container));
    paintSeries(this.#series);
    this.#plots.repaint();
    this.#titles.forEach((title, i) =>
      title.applyOptions({ lines: [{ text: this.#panes[i]?.title ?? "", color: readColor("muted"), fontSize: 11 }] })
    );
    this.setLevels(this.#levels);
    this.#drawTrades();
  }

  /** A picture of what is seen, in the palette that is shown now: the browser prints nothing that is drawn later. */
  draw(): HTMLCanvasElement {
    this.repaint();
    return this.#chart.takeScreenshot();
  }

  /** Shows a stretch of time with room around it, in as much detail as fits. @param fromMs To `toMs`, since 1970. @param roomMin Candles at its sides; 0: none. */
  async goTo(fromMs: number, toMs: number, roomMin = ROOM_MIN): Promise<void> {
    for (let tries = 0; tries < 4; tries++) {
      const { time, from, step, candles: total } = this.#data;
      const first = from + Math.max(0, lastAtMost(time, fromMs)) * step;
      const last = from + (Math.max(0, lastAtMost(time, toMs)) + 1) * step;
      const room = roomMin === 0 ? 0 : Math.max(roomMin, last - first);
      const wanted = { from: Math.max(0, first - room), until: Math.min(total, last + room) };
      const isLoaded = wanted.from >= from && wanted.until <= this.#data.until;
      const fine = stepFor(wanted.until - wanted.from, BARS_MAX);
      if (isLoaded && step <= fine) {
        this.#chart.timeScale().setVisibleLogicalRange(barsOf(this.#data, wanted));
        return;
      }
      if (await this.#replace(windowAround(wanted, fine, total), wanted)) continue;
      // The part that is there is better than nothing: the service is away, or the page has none.
      this.#chart.timeScale().setVisibleLogicalRange(barsOf(this.#data, wanted));
      return;
    }
  }

  /** Shows the whole run. */
  async showAll(): Promise<void> {
    const total = this.#data.candles;
    const view = { from: 0, until: total };
    if (await this.#replace({ ...view, step: stepFor(total, BARS_MAX) }, view)) return;
    this.#chart.timeScale().setVisibleLogicalRange(barsOf(this.#data, view));
  }

  /** Goes from a bar to another one beside it. @param timeMs The time of the bar, since 1970. */
  step(timeMs: number, by: number): void {
    const { time, close } = this.#data;
    const bar = Math.max(0, Math.min(time.length - 1, lastAtMost(time, timeMs) + by));
    const scale = this.#chart.timeScale();
    const seen = scale.getVisibleLogicalRange();
    if (seen !== null && (bar < seen.from || bar > seen.to)) {
      const moved = bar - (by < 0 ? seen.from : seen.to);
      scale.setVisibleLogicalRange({ from: seen.from + moved, to: seen.to + moved });
    }
    this.#chart.setCrosshairPosition(close[bar] ?? 0, toChartTime(time[bar]!), this.#series.candles);
    this.#events.onPick(this.#data, bar);
  }

  /** Shows `factor` times as many bars around the middle. */
  zoom(factor: number): void {
    const scale = this.#chart.timeScale();
    const seen = scale.getVisibleLogicalRange();
    if (seen === null) return;
    const [middle, half] = [(seen.from + seen.to) / 2, (seen.to - seen.from) / 2 * factor];
    scale.setVisibleLogicalRange({ from: middle - half, to: middle + half });
  }

  close(): void {
    this.#isClosed = true;
    this.#leave.abort();
    clearTimeout(this.#settle);
    this.#chart.remove();
  }

  #onMove(range: LogicalRange | null): void {
    if (range === null) return;
    clearTimeout(this.#settle);
    this.#settle = setTimeout(() => void this.#refine(), SETTLE_MS);
  }

  async #refine(): Promise<void> {
    this.#drawTrades();
    const seen = this.#chart.timeScale().getVisibleLogicalRange();
    if (seen === null) return;
    const window = chooseWindow(this.#data, seen, this.#data.candles, BARS_MAX);
    if (window !== null) await this.#replace(window, null);
    const { from, to } = this.#chart.timeScale().getVisibleLogicalRange() ?? seen;
    const { time, candles, from: first, until } = this.#data;
    const isWhole = first === 0 && until === candles && from <= 0.5 && to >= time.length - 1.5;
    const at = (bar: number) => time[Math.max(0, Math.min(time.length - 1, Math.round(bar)))]!;
    this.#events.onSettle(isWhole ? null : { fromMs: at(from), toMs: at(to) });
  }

  /**
   * Loads a window and shows the candles of `view`, or those that are seen then. A later call makes this one void.
   *
   * @returns False where the window could not be loaded.
   */
  async #replace(window: ChartWindow, view: { from: number; until: number } | null): Promise<boolean> {
    const turn = ++this.#loading;
    const data = await this.#load(window).catch(() => null);
    if (this.#isClosed || turn !== this.#loading) return true;
    if (data === null) return false;
    const scale = this.#chart.timeScale();
    const seen = scale.getVisibleLogicalRange();
    const { from, step } = this.#data;
    const candles = view ??
      (seen === null ? null : { from: from + seen.from * step, until: from + (seen.to + 1) * step });
    this.#show(data);
    if (candles !== null) scale.setVisibleLogicalRange(barsOf(data, candles));
    this.#drawTrades();
    return true;
  }

  #show(data: RunBars): void {
    this.#data = data;
    showBars(this.#series, data, this.#market !== null);
    this.#plots.show(data.time, data.values);
    // Moving stops where the run begins and ends; where a window does, more is loaded.
    this.#chart.timeScale().applyOptions({ fixLeftEdge: data.from === 0, fixRightEdge: data.until === data.candles });
  }

  /** Draws what belongs to the stretch in view: the marks of fills, and longer candles. */
  #drawTrades(): void {
    const seen = this.#chart.timeScale().getVisibleLogicalRange();
    const { first, last, untilMs } = seenStretch(this.#data, seen);
    const { fills, areDrawn } = this.#marks.draw([first, untilMs], this.#data.time, this.#chart.timeScale().width());
    this.#coarse.draw([first, last], this.#data.time);
    this.#events.onView(this.#data, first, last, fills, areDrawn);
  }
}
