import { useSyncExternalStore } from "react";
import type { Backtest } from "../../../api.ts";
import { type Timeframe, TIMEFRAMES } from "../../../parts/candle_timeframes.ts";

/** How the scale of prices and equity is divided. */
export const SCALES = ["linear", "log", "percent"] as const;
/** The clocks whose time the charts can show. */
export const CLOCKS = ["utc", "local", "market"] as const;

/** How a person wants the charts of runs, kept in this browser. */
export interface ChartSettings {
  readonly scale: (typeof SCALES)[number];
  readonly clock: (typeof CLOCKS)[number];
  /** The longer candles that are drawn behind a run's own, where they are longer; empty: none. */
  readonly coarse: Timeframe | "";
  /** Keys of panes, and `volume`. */
  readonly hidden: readonly string[];
  /** The heights of panes that were dragged, by their keys. */
  readonly shares: Readonly<Record<string, number>>;
}

const LOCAL = Intl.DateTimeFormat().resolvedOptions().timeZone;
const DAYS = /[dwM]$/;
const KEY = "hindcast.charts";
const START: ChartSettings = { scale: "linear", clock: "utc", coarse: "", hidden: [], shares: {} };
const listeners = new Set<() => void>();
let current: ChartSettings | undefined;

/** The settings, and a function that changes some of them. */
export function useChartSettings(): readonly [ChartSettings, typeof change] {
  return [useSyncExternalStore(subscribe, read), change];
}

/** The names of the zones whose times a run's page can show. Days are dates of UTC. */
export function zonesOf({ parameters: { timeframe }, result }: Pick<Backtest, "parameters" | "result">) {
  const isDaily = DAYS.test(String(timeframe));
  const market = result?.data.session?.timezone ?? "UTC";
  return isDaily ? { utc: "UTC", local: "UTC", market: "UTC" } : { utc: "UTC", local: LOCAL, market };
}

/** The timeframes that are longer than a run's. */
export function coarserThan({ parameters: { timeframe } }: Pick<Backtest, "parameters">): readonly Timeframe[] {
  const own = TIMEFRAMES.find((each) => each === timeframe);
  return own === undefined ? [] : TIMEFRAMES.slice(TIMEFRAMES.indexOf(own) + 1);
}

/** The zone whose times a run's page shows: one choice for its charts and its tables. */
export function useZone(run: Parameters<typeof zonesOf>[0]): string {
  const [{ clock }] = useChartSettings();
  return zonesOf(run)[clock];
}

function change(changes: Partial<ChartSettings>): void {
  current = { ...read(), ...changes };
  localStorage.setItem(KEY, JSON.stringify(current));
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function read(): ChartSettings {
  return current ??= parse();
}

/** A report that was opened from the service has no storage. */
function parse(): ChartSettings {
  try {
    const { scale, clock, coarse, hidden, shares } = Object(JSON.parse(localStorage.getItem(KEY) ?? "{}"));
    return {
      scale: SCALES.find((each) => each === scale) ?? START.scale,
      clock: CLOCKS.find((each) => each === clock) ?? START.clock,
      coarse: TIMEFRAMES.find((each) => each === coarse) ?? START.coarse,
      hidden: Array.isArray(hidden) ? hidden.map(String) : START.hidden,
      shares: Object.fromEntries(
        Object.entries(Object(shares)).flatMap(([key, share]) => Number(share) > 0 ? [[key, Number(share)]] : []),
      ),
    };
  } catch {
    return START;
  }
}
