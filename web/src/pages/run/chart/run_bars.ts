import { api, type ChartData, type CoarseCandles, type Fills, type PlotData, queryClient } from "../../../api.ts";
import { lengthMs, type Timeframe } from "../../../parts/candle_timeframes.ts";
import type { ChartWindow } from "./chart_window.ts";

/** Bars of the charts at first, about. */
export const POINTS = 1_000;

/** Bars of a run with what its strategy plotted; all columns have a value per bar. */
export interface RunBars extends ChartData {
  readonly plots: PlotData["plots"];
  /** Of each plot. */
  readonly values: PlotData["values"];
}

/** Bars and plots of the same stretch of a run. */
export function joinBars(chart: ChartData, { plots, values }: PlotData): RunBars {
  return { ...chart, plots, values };
}

/** A run and the market whose candles are drawn: `SPY@ARCA`, or undefined for its own. */
interface Drawn {
  readonly id: string;
  readonly market: string | undefined;
}

/** Reads the bars of a window. @param plots Those of the run; without any, nothing is asked for. */
export async function loadBars({ id, market }: Drawn, window: ChartWindow, plots: PlotData["plots"]): Promise<RunBars> {
  const { from, until, step } = window;
  const input = {
    ...{ id, from, until, points: Math.max(2, Math.ceil((until - from) / step)) },
    ...(market === undefined ? {} : { market }),
  };
  const [chart, series] = await Promise.all([
    queryClient.fetchQuery(api.backtests.chart.queryOptions(input, { staleTime: Infinity })),
    plots.length === 0
      ? { plots, values: [] }
      : queryClient.fetchQuery(api.backtests.series.queryOptions(input, { staleTime: Infinity })),
  ]);
  return { ...chart, plots, values: series.values };
}

/** Fills that were loaded for a stretch of time, in milliseconds since 1970. */
export interface LoadedFills extends Fills {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Reads the fills in a stretch of time. @param untilMs Included; Infinity: to the run's end. */
export async function loadFills({ id, market }: Drawn, fromMs: number, untilMs: number): Promise<LoadedFills> {
  const fills = await queryClient.fetchQuery(api.backtests.fills.queryOptions({
    ...{ id, from: fromMs },
    ...(untilMs === Infinity ? {} : { until: untilMs }),
    ...(market === undefined ? {} : { instrument: market }),
  }, { staleTime: Infinity }));
  return { ...fills, fromMs, untilMs };
}

/** Most candles that are drawn over a run's own: more would be too narrow. */
const COARSE_MAX = 500;
/** Neighbouring stretches ask for the same candles, in blocks of so many. */
const COARSE_BLOCK = 64;

/** Reads longer candles of a stretch of time; null where they are too many to be seen. */
export async function loadCoarse(
  { id, market }: Drawn,
  timeframe: Timeframe,
  [fromMs, untilMs]: readonly [number, number],
): Promise<CoarseCandles | null> {
  const block = lengthMs(timeframe) * COARSE_BLOCK;
  const [from, until] = [Math.floor(fromMs / block) * block, Math.ceil(untilMs / block) * block];
  if ((untilMs - fromMs) / lengthMs(timeframe) > COARSE_MAX) return null;
  return await queryClient.fetchQuery(api.backtests.candles.queryOptions({
    ...{ id, timeframe, from, until },
    ...(market === undefined ? {} : { market }),
  }, { staleTime: Infinity }));
}

/** True where more fills were found than come with their trades. */
export function areCut({ fills, trades }: Fills): boolean {
  return fills > 0 && trades.number.length === 0;
}
