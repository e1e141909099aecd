import type { SeriesMarker, UTCTimestamp } from "lightweight-charts";
import type { TradeTable } from "../../../api.ts";
import { toChartTime } from "../../../parts/chart_look.ts";
import { readColor } from "../../../theme/theme.ts";
import { lastAtMost } from "./chart_window.ts";

/** An entry or an exit. */
interface Fill {
  readonly timeMs: number;
  readonly isBuy: boolean;
  readonly text: string;
}

/** A mark in the chart; `words` say what was filled there. */
interface Mark {
  readonly timeMs: number;
  readonly isBuy: boolean;
  readonly words: Set<string>;
}

export function toMarker({ timeMs, isBuy, words }: Mark, hasWord: boolean): SeriesMarker<UTCTimestamp> {
  const [first = "", ...others] = words;
  const text = others.length === 0 ? first : `${first} and ${others.length} more`;
  return {
    time: toChartTime(timeMs),
    position: isBuy ? "belowBar" : "aboveBar",
    shape: isBuy ? "arrowUp" : "arrowDown",
    color: readColor(isBuy ? "gain" : "loss"),
    text: hasWord ? text : "",
  };
}

/** Entries and exits within a stretch of time, in its order. @param only The market whose fills are listed; null: all. */
export function listFills(
  trades: TradeTable,
  [firstMs, lastMs]: readonly [number, number],
  only: string | null,
): Fill[] {
  const fills: Fill[] = [];
  for (let i = 0; i < trades.number.length; i++) {
    if (only !== null && trades.instrument[i] !== only) continue;
    const isLong = trades.is_long[i]!;
    const entry = trades.entry_time[i]!;
    const exit = trades.exit_time[i];
    // Among the candles of another market a mark says whose it is.
    const of = only !== null || trades.instrument[i] == null ? "" : ` ${trades.instrument[i]}`;
    if (entry >= firstMs && entry <= lastMs) {
      fills.push({ timeMs: entry, isBuy: isLong, text: `${isLong ? "Long" : "Short"}${of}` });
    }
    if (exit != null && exit >= firstMs && exit <= lastMs) {
      fills.push({ timeMs: exit, isBuy: !isLong, text: `Exit${of}` });
    }
  }
  return fills.sort((a, b) => a.timeMs - b.timeMs);
}

/** A mark for the fills of one bar on one side: parts of one order would cover each other. @param time Of each bar. */
export function gatherMarks(fills: readonly Fill[], time: readonly number[]): Mark[] {
  const marks = new Map<string, Mark>();
  for (const { timeMs, isBuy, text } of fills) {
    const bar = Math.max(0, lastAtMost(time, timeMs));
    const key = `${bar} ${isBuy}`;
    const mark = marks.get(key) ?? { timeMs: time[bar]!, isBuy, words: new Set() };
    mark.words.add(text);
    marks.set(key, mark);
  }
  return [...marks.values()];
}
