/** The sums that an optimization's record keeps of its slices. */
import type { EncodedTrials } from "../../db/codec/trial_table.ts";
import type { BestTrial, Optimization } from "../../db/optimizations.ts";
import type { ScanData } from "../../db/scan_markets.ts";
import { addToWindow, type WindowSlice } from "./windows.ts";

const BEST_MAX = 10;

/** The points of a slice that are done, as far as they count. */
export interface CountedSlice extends WindowSlice {
  readonly from: number;
  /** The place behind the last one that is done; at least one is. */
  readonly until: number;
  readonly constrained: number;
  readonly refused: number;
  /** The candles of the markets of a scan; their checksums are compared there. */
  readonly data?: readonly ScanData[];
}

/** The sums of an optimization with a further slice. */
export function countSlice(record: Optimization, slice: CountedSlice) {
  return slice.part.kind === "range" ? countRange(record, slice) : countWindow(record, slice);
}

/** Places that are done. */
export function countDone(
  { pointsDone, windowPointsDone }: Pick<Optimization, "pointsDone" | "windowPointsDone">,
): number {
  return pointsDone + windowPointsDone;
}

function countRange(record: Optimization, slice: CountedSlice) {
  return {
    pointsDone: record.pointsDone + slice.until - slice.from,
    windowPointsDone: record.windowPointsDone,
    pointsConstrained: record.pointsConstrained + slice.constrained,
    pointsRefused: record.pointsRefused + slice.refused,
    trials: record.trials + slice.trials.trials,
    trialsFailed: record.trialsFailed + slice.trials.failed,
    best: mergeBest(record, slice.trials),
    dataSha256: record.dataSha256 ?? slice.dataSha256,
  };
}

function countWindow(record: Optimization, slice: CountedSlice) {
  return {
    pointsDone: record.pointsDone,
    windowPointsDone: record.windowPointsDone + slice.until - slice.from,
    trials: record.trials,
    windows: addToWindow(record, slice),
  };
}

function mergeBest(
  { best, direction }: Optimization,
  { places, points, objectives, sharpes }: Pick<EncodedTrials, "places" | "points" | "objectives" | "sharpes">,
): readonly BestTrial[] {
  const sign = direction === "max" ? -1 : 1;
  const worst = best.length < BEST_MAX ? Infinity : sign * best.at(-1)!.objective;
  const found: BestTrial[] = [];
  for (let row = 0; row < places.length; row++) {
    const objective = objectives[row]!;
    if (sign * objective <= worst) {
      found.push({ number: places[row]! + 1, point: points[row]!, objective, ...sharpeOf(sharpes, row) });
    }
  }
  return [...best, ...found].sort((a, b) => sign * (a.objective - b.objective) || a.number - b.number)
    .slice(0, BEST_MAX);
}

function sharpeOf({ sharpe, sharpe_low, sharpe_high }: EncodedTrials["sharpes"], row: number) {
  return { sharpe: orNull(sharpe[row]!), sharpe_low: orNull(sharpe_low[row]!), sharpe_high: orNull(sharpe_high[row]!) };
}

const orNull = (value: number) => Number.isNaN(value) ? null : value;
