import type { SeriesMarker, UTCTimestamp } from "lightweight-charts";
import type { TradeTable } from "../../../api.ts";
import { toChartTime } from "../../../parts/chart_look.ts";
import { readColor } from "../../../theme/theme.ts";
import { entryReason, exitReason } from "./trade_reasons.ts";
import { formatCount } from "../../../parts/format.ts";
import { lastAtMost } from "./chart_window.ts";
import type { RunBars } from "./run_bars.ts";

/** An entry or an exit. */
interface Fill {
  readonly timeMs: number;
  readonly isBuy: boolean;
  readonly text: string;
  /** The reason for it; null where nobody gave one. */
  readonly why: string | null;
}

/** A mark in the chart: what was filled there, such as an exit, and for each reason what came of it. */
interface Mark {
  readonly bar: number;
  readonly timeMs: number;
  readonly isBuy: boolean;
  readonly words: Set<string>;
  readonly reasons: Map<string | null, Set<string>>;
}

// Of one in a marker's text, in pixels.
const CHARACTER_WIDTH = 7;
// Texts lie above and below the candles, at different heights: some of them may overlap.
const WORDS_SHARE_MAX = 1.5;

/** True if the texts of these marks can be read beside each other. @param width Of the chart, in pixels. */
export function wordsFit(marks: readonly Mark[], width: number): boolean {
  const characters = marks.reduce((sum, { words }) => sum + textOf(words).length, 0);
  return characters * CHARACTER_WIDTH <= width * WORDS_SHARE_MAX;
}

function textOf(words: ReadonlySet<string>): string {
  return [...words].join(", ");
}

export function toMarker({ timeMs, isBuy, words }: Mark, hasWord: boolean): SeriesMarker<UTCTimestamp> {
  return {
    time: toChartTime(timeMs),
    position: isBuy ? "belowBar" : "aboveBar",
    shape: isBuy ? "arrowUp" : "arrowDown",
    color: readColor(isBuy ? "gain" : "loss"),
    text: hasWord ? textOf(words) : "",
  };
}

/** Describes the fills of each bar, and why they came. @param trades Of the market that is drawn. */
export function describeFills(trades: TradeTable, data: RunBars): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  if (data.time.length === 0) return found;
  const until = data.until < data.candles ? data.time.at(-1)! : Infinity;
  for (const mark of gatherMarks(listFills(trades, [data.time[0]!, until]), data.time)) {
    const [first = "", ...others] = [...mark.reasons].map(([why, words]) =>
      why === null ? textOf(words) : `${textOf(words)}: ${why}`
    );
    const text = others.length === 0 ? first : `${first}, and ${formatCount(others.length)} more`;
    found.set(mark.bar, [found.get(mark.bar), text].filter(Boolean).join(" · "));
  }
  return found;
}

/** Entries and exits within a stretch of time, in its order. */
export function listFills(trades: TradeTable, [firstMs, lastMs]: readonly [number, number]): Fill[] {
  const fills: Fill[] = [];
  for (let i = 0; i < trades.number.length; i++) {
    const isLong = trades.is_long[i]!;
    const entry = trades.entry_time[i]!;
    const exit = trades.exit_time[i];
    if (entry >= firstMs && entry <= lastMs) {
      fills.push({
        timeMs: entry,
        isBuy: isLong,
        text: isLong ? "Long" : "Short",
        why: entryReason(trades, i),
      });
    }
    if (exit != null && exit >= firstMs && exit <= lastMs) {
      fills.push({ timeMs: exit, isBuy: !isLong, text: "Exit", why: exitReason(trades, i) });
    }
  }
  return fills.sort((a, b) => a.timeMs - b.timeMs);
}

/** A mark for the fills of one bar on one side: parts of one order would cover each other. @param time Of each bar. */
export function gatherMarks(fills: readonly Fill[], time: readonly number[]): Mark[] {
  const marks = new Map<string, Mark>();
  for (const { timeMs, isBuy, text, why } of fills) {
    const bar = Math.max(0, lastAtMost(time, timeMs));
    const key = `${bar} ${isBuy}`;
    const mark = marks.get(key) ?? { bar, timeMs: time[bar]!, isBuy, words: new Set(), reasons: new Map() };
    mark.words.add(text);
    mark.reasons.set(why, (mark.reasons.get(why) ?? new Set()).add(text));
    marks.set(key, mark);
  }
  return [...marks.values()];
}
