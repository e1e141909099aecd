import type { Finding, Integrity } from "../../../engine/result.ts";
import type { PortfolioMarket, PortfolioResult } from "../../../engine/portfolio/portfolio.ts";
import { findTimeline, firstFrom, type Timeline } from "../../../engine/portfolio/timeline.ts";
import type { MarketsTask } from "../../common/protocol.ts";
import { checkOrders, CHECKS, CHECKS_SHARE } from "../integrity.ts";
import { Random } from "../random.ts";
import { cutMarket } from "../cut_market.ts";
import type { RecordedTargets } from "./recorded_portfolio.ts";

// Each check of many markets makes as many strategies.
const CHECKS_OF_MANY = 2;
const MANY_MARKETS = 8;
const CHECK_MARKS_MIN = 256;

/** A run's result, and its targets; null: it has a strategy for each market. */
export interface MarketsActs {
  readonly result: PortfolioResult;
  readonly targets: RecordedTargets | null;
}

/** A run, and the rows in which its orders were placed. */
interface CheckedRun extends MarketsActs {
  readonly timeline: Timeline;
  readonly task: MarketsTask;
}

/**
 * Checks a strategy by running it again without the candles after a mark: its decisions there may not depend on later candles.
 *
 * @param runAgain Runs a new strategy over these markets.
 */
export function checkMarkets(
  runAgain: (markets: readonly PortfolioMarket[]) => MarketsActs,
  task: MarketsTask,
  acts: MarketsActs,
): Integrity {
  const { result } = acts;
  const run = { ...acts, task, timeline: findTimeline(task.markets, task.timeframeMs) };
  return {
    ...checkPrefixes(runAgain, run),
    warm_up: { status: "skipped", evidence: "Not tested in a run over many markets." },
    orders: checkOrders(result),
  };
}

function checkPrefixes(
  runAgain: (markets: readonly PortfolioMarket[]) => MarketsActs,
  run: CheckedRun,
): Pick<Integrity, "lookahead" | "determinism"> {
  const { task, result: { instant } } = run;
  if (instant.length < 3) {
    const finding = {
      status: "skipped",
      evidence: `${instant.length} marks are too few to cut off the last ones.`,
    } as const;
    return { lookahead: finding, determinism: finding };
  }
  const again = (kept: number) =>
    runAgain(task.markets.map((market) => cutMarket(market, instant[kept - 1]!, task.timeframeMs)));
  const lengths = chooseLengths(run);
  for (const kept of lengths) {
    const differing = firstDifference(run, again(kept), run, kept);
    if (differing < 0) continue;
    const moved = firstDifference(again(kept), again(kept), run, kept);
    return moved < 0 ? failLookahead(run, kept, differing) : failDeterminism(run, kept, moved);
  }
  const evidence = `The strategy was run again on the first ${lengths.join(", ")} of ${instant.length} marks alone: ` +
    "orders and equity were the same, to the last bit.";
  return { lookahead: { status: "passed", evidence }, determinism: { status: "passed", evidence } };
}

/** How many marks each check keeps: it ends at random ones, and where orders were placed, which a look ahead would change. */
function chooseLengths(run: CheckedRun): readonly number[] {
  const { task, result: { instant, orders }, targets } = run;
  const checks = task.markets.length > MANY_MARKETS ? CHECKS_OF_MANY : CHECKS;
  const keptMax = Math.min(
    instant.length - 1,
    Math.max(CHECK_MARKS_MIN, Math.floor(instant.length * CHECKS_SHARE / checks)),
  );
  const random = new Random(task.seed);
  const kept = new Set<number>();
  const acted = targets === null ? orders.count : targets.now.length;
  for (let k = 0; k < acted && kept.size < checks / 2; k++) {
    const row = targets === null ? rowOfOrder(run, k) : firstFrom(instant, targets.now[k]!);
    if (row + 1 > keptMax) break;
    kept.add(Math.max(2, row + 1));
  }
  while (kept.size < Math.min(checks, keptMax - 1)) kept.add(2 + random.below(keptMax - 1));
  return [...kept].sort((a, b) => a - b);
}

/** The row in which the candle closed that was an order's newest. */
function rowOfOrder({ result: { orders }, timeline, task }: Omit<CheckedRun, "targets">, k: number): number {
  const market = orders.market[k]!;
  const { time } = task.markets[market]!.candles;
  let [low, high] = [0, time.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time[middle]! < orders.time[k]!) low = middle + 1;
    else high = middle;
  }
  return timeline.closes[market]!.rowOf(low);
}

/** The first row in which two runs differ, of which the second has only `kept` rows; -1: none. */
function firstDifference(one: MarketsActs, other: MarketsActs, run: CheckedRun, kept: number): number {
  const [a, b] = [one.result, other.result];
  // The last mark is not compared: positions may be closed there because it is the last.
  for (let row = 0; row < kept - 1; row++) {
    if (!Object.is(a.equity[row], b.equity[row])) return row;
  }
  const columns = ["time", "market", "side", "type", "limitPrice", "stopPrice"] as const;
  const isSame = (k: number) =>
    columns.every((name) => Object.is(a.orders[name][k], b.orders[name][k])) && a.orders.tag[k] === b.orders.tag[k];
  for (let k = 0; k < b.orders.count; k++) {
    if (k >= a.orders.count || !isSame(k)) return Math.min(kept - 1, rowOfOrder({ ...run, result: b }, k));
  }
  if (one.targets !== null && other.targets !== null) return differingTarget(one.targets, other.targets, run, kept);
  const next = b.orders.count;
  if (next >= a.orders.count) return -1;
  const row = rowOfOrder({ ...run, result: a }, next);
  return row < kept ? row : -1;
}

/** The row of the first targets that differ. Targets become orders later, so that the last ones have none yet. */
function differingTarget(
  a: RecordedTargets,
  b: RecordedTargets,
  { result: { instant } }: CheckedRun,
  kept: number,
): number {
  const until = instant[kept - 1]!;
  for (let k = 0; k < Math.max(a.now.length, b.now.length); k++) {
    const now = Math.min(a.now[k] ?? Infinity, b.now[k] ?? Infinity);
    if (now > until) return -1;
    if (a.now[k] !== b.now[k] || a.digest[k] !== b.digest[k]) return firstFrom(instant, now);
  }
  return -1;
}

function describeMark({ result: { instant } }: CheckedRun, row: number): string {
  return `mark ${row}, counted from 0 (${new Date(instant[row]!).toISOString()})`;
}

function failLookahead(run: CheckedRun, kept: number, row: number): Pick<Integrity, "lookahead" | "determinism"> {
  const how = `The strategy was run again on the first ${kept} of ${run.result.instant.length} marks alone`;
  const determinism: Finding = { status: "passed", evidence: `${how}, twice: it did the same, to the last bit.` };
  return {
    lookahead: { status: "failed", evidence: `${how}: its orders or equity differed at ${describeMark(run, row)}.` },
    determinism,
  };
}

function failDeterminism(run: CheckedRun, kept: number, row: number): Pick<Integrity, "lookahead" | "determinism"> {
  const how = `The strategy was run twice on the first ${kept} of ${run.result.instant.length} marks alone`;
  const evidence = "Not tested: the strategy is not deterministic, so its runs differ anyway.";
  return {
    lookahead: { status: "skipped", evidence },
    determinism: {
      status: "failed",
      evidence: `${how}: its orders or equity differed at ${describeMark(run, row)}.`,
    },
  };
}
