import type {
  IPrimitivePaneRenderer,
  IPrimitivePaneView,
  ISeriesApi,
  ISeriesPrimitive,
  SeriesAttachedParameter,
  Time,
} from "lightweight-charts";
import type { CoarseCandles } from "../../../api.ts";
import type { Timeframe } from "../../../parts/candle_timeframes.ts";
import { fade, toChartTime } from "../../../parts/chart_look.ts";
import { readColor } from "../../../theme/theme.ts";
import { lastAtMost } from "./chart_window.ts";

/** A narrower one would hide the bars that it is made of. */
const WIDTH_MIN_PX = 3;
const GAP_PX = 1;

type Target = Parameters<IPrimitivePaneRenderer["draw"]>[0];

/** Gives the candles of a stretch of time, in milliseconds since 1970; null where they are too many to be seen. */
export type LoadCoarse = (
  timeframe: Timeframe,
  stretch: readonly [fromMs: number, untilMs: number],
) => Promise<CoarseCandles | null>;

/** Longer candles behind a run's own: each is as wide as the bars that lie in it. */
export class CoarseOverlay implements ISeriesPrimitive<Time> {
  #attached: SeriesAttachedParameter<Time> | undefined;
  readonly #load: LoadCoarse;
  #timeframe: Timeframe | undefined;
  #turn = 0;
  #candles: CoarseCandles | null = null;
  #time: readonly number[] = [];

  constructor(load: LoadCoarse) {
    this.#load = load;
  }

  attached(attached: SeriesAttachedParameter<Time>): void {
    this.#attached = attached;
  }

  detached(): void {
    this.#attached = undefined;
  }

  /** @param timeframe Undefined: none. */
  choose(timeframe: Timeframe | undefined): void {
    if (timeframe !== this.#timeframe) this.#candles = null;
    this.#timeframe = timeframe;
  }

  /** Draws the candles of a stretch that is seen; those that are not there yet are asked for. @param time Of each bar of the chart. */
  draw(stretch: readonly [fromMs: number, untilMs: number], time: readonly number[]): void {
    this.#time = time;
    const turn = ++this.#turn;
    const timeframe = this.#timeframe;
    if (timeframe !== undefined && Number.isFinite(stretch[0])) {
      void this.#load(timeframe, stretch).catch(() => null).then((candles) => {
        if (turn !== this.#turn) return;
        this.#candles = candles;
        this.#attached?.requestUpdate();
      });
    }
    this.#attached?.requestUpdate();
  }

  paneViews(): readonly IPrimitivePaneView[] {
    return [{ zOrder: () => "bottom", renderer: () => ({ draw: (target) => this.#draw(target) }) }];
  }

  #draw(target: Target): void {
    const { chart, series } = this.#attached ?? {};
    const candles = this.#candles;
    if (chart === undefined || series === undefined || candles === null) return;
    const scale = chart.timeScale();
    const half = scale.options().barSpacing / 2;
    const xOf = (bar: number) => scale.timeToCoordinate(toChartTime(this.#time[bar]!));
    target.useMediaCoordinateSpace(({ context }) => {
      candles.time.forEach((open, i) => {
        const first = lastAtMost(this.#time, open - 1) + 1;
        const last = lastAtMost(this.#time, candles.end[i]! - 1);
        if (last < first) return;
        const [left, right] = [xOf(first), xOf(last)];
        if (left === null || right === null) return;
        drawCandle(context, series, candles, i, { left: left - half, right: right + half - GAP_PX });
      });
    });
  }
}

function drawCandle(
  context: CanvasRenderingContext2D,
  series: Pick<ISeriesApi<"Candlestick">, "priceToCoordinate">,
  { open, high, low, close }: CoarseCandles,
  i: number,
  { left, right }: { readonly left: number; readonly right: number },
): void {
  const [top, bottom] = [series.priceToCoordinate(high[i]!), series.priceToCoordinate(low[i]!)];
  const [from, to] = [series.priceToCoordinate(open[i]!), series.priceToCoordinate(close[i]!)];
  if (top === null || bottom === null || from === null || to === null || right - left < WIDTH_MIN_PX) return;
  const color = readColor(close[i]! >= open[i]! ? "gain" : "loss");
  const middle = (left + right) / 2;
  context.fillStyle = fade(color, 0.14);
  context.strokeStyle = fade(color, 0.6);
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(middle, top);
  context.lineTo(middle, Math.min(from, to));
  context.moveTo(middle, Math.max(from, to));
  context.lineTo(middle, bottom);
  context.rect(left, Math.min(from, to), right - left, Math.abs(from - to));
  context.fill();
  context.stroke();
}
