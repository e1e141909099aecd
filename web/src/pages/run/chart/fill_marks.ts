import { createSeriesMarkers, type ISeriesApi } from "lightweight-charts";
import { areCut, type LoadedFills } from "./run_bars.ts";
import { gatherMarks, listFills, toMarker, wordsFit } from "./trade_marks.ts";

const MARKERS_MAX = 250;

/** Gives the fills of a stretch of time, both ends included, in milliseconds since 1970. */
export type LoadFills = (fromMs: number, untilMs: number) => Promise<LoadedFills>;

/** The marks of entries and exits among the candles, for the stretch of time that is seen. */
export class FillMarks {
  readonly #markers;
  readonly #load: LoadFills | null;
  readonly #onLoad: (fills: LoadedFills) => void;
  #fills: LoadedFills | null = null;
  #asked = "";

  /** @param load Null where nothing is traded. @param onLoad Told when more fills are there, to draw again. */
  constructor(
    candles: ISeriesApi<"Candlestick">,
    load: LoadFills | null,
    onLoad: (fills: LoadedFills) => void,
  ) {
    this.#markers = createSeriesMarkers(candles, []);
    this.#load = load;
    this.#onLoad = onLoad;
  }

  /**
   * Marks the fills of a stretch of time; those that are not there yet are asked for.
   *
   * @param time Of each bar. @param width Of the chart, in pixels. @returns How many fills there are, and whether each is marked.
   */
  draw(
    [fromMs, untilMs]: readonly [number, number],
    time: readonly number[],
    width: number,
  ): { readonly fills: number; readonly areDrawn: boolean } {
    const loaded = this.#fills;
    const isExact = loaded?.fromMs === fromMs && loaded.untilMs === untilMs;
    const hasTrades = loaded !== null && !areCut(loaded);
    const covers = hasTrades && loaded.fromMs <= fromMs && loaded.untilMs >= untilMs;
    if (!covers && !isExact) void this.#ask(fromMs, untilMs);
    const fills = hasTrades ? listFills(loaded.trades, [fromMs, untilMs]) : [];
    const marks = gatherMarks(fills, time);
    const areDrawn = marks.length <= MARKERS_MAX && (hasTrades || loaded === null);
    const haveWords = wordsFit(marks, width);
    this.#markers.setMarkers(areDrawn ? marks.map((mark) => toMarker(mark, haveWords)) : []);
    return { fills: hasTrades ? fills.length : loaded?.fills ?? 0, areDrawn };
  }

  /** Each stretch once: one that cannot be had is asked for again when the view moves. */
  async #ask(fromMs: number, untilMs: number): Promise<void> {
    const asked = `${fromMs} ${untilMs}`;
    if (this.#load === null || asked === this.#asked || fromMs === Infinity) return;
    this.#asked = asked;
    const fills = await this.#load(fromMs, untilMs).catch(() => null);
    if (fills === null || this.#asked !== asked) return;
    this.#fills = fills;
    this.#onLoad(fills);
  }
}
