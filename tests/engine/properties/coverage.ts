import { BOTH_TOUCHED, CLOSES_AT_END, EXCLUSIVES } from "../../../engine/execution.ts";
import { ORDER_REASONS, ORDER_STATUSES } from "../../../engine/order_columns.ts";
import { ORDER_TYPES } from "../../../engine/strategy.ts";
import { EXIT_REASONS, STILL_OPEN } from "../../../engine/trade_columns.ts";
import type { Finished } from "./checks.ts";

/** How often random runs met each kind of order, fate, exit and setting. */
export type Coverage = Map<string, number>;

const FILLED_TYPES = ORDER_TYPES.map((type) => `a ${type} order filled`);
const FATES = ORDER_STATUSES.map((status) => `an order ${status}`);
// Another test has ten thousand working orders.
/** A strategy of 10,000 orders is rare, and only a portfolio has members and slots. */
const UNSEEN: readonly string[] = [
  "",
  "too many working orders",
  "the instrument is not a member",
  "as many positions are open as positions_max allows",
];
const REASONS = ORDER_REASONS.filter((reason) => !UNSEEN.includes(reason));
const EXITS = EXIT_REASONS.filter((reason) => reason !== "delisted").map((reason) => `exit by ${reason}`);
const MODES = [...BOTH_TOUCHED, ...EXCLUSIVES.map((mode) => `exclusive ${mode}`), ...CLOSES_AT_END];
const OTHERS = [
  "a trade left open",
  "an ambiguous trade",
  "a margin call of an ambiguous trade",
  "a fill in parts",
  "an account that came to nothing",
];

export function newCoverage(): Coverage {
  return new Map([...FILLED_TYPES, ...FATES, ...REASONS, ...EXITS, ...MODES, ...OTHERS].map((what) => [what, 0]));
}

export function noteCoverage(
  coverage: Coverage,
  { input: { execution }, result: { orders, trades, equity } }: Finished,
) {
  const note = (what: string) => coverage.set(what, (coverage.get(what) ?? 0) + 1);
  for (let k = 0; k < orders.count; k++) {
    note(`an order ${ORDER_STATUSES[orders.status[k]!]}`);
    note(ORDER_REASONS[orders.reason[k]!]!);
    if (orders.filledQuantity[k]! > 0) note(`a ${ORDER_TYPES[orders.type[k]!]} order filled`);
    if (orders.filledQuantity[k]! > 0 && orders.filledQuantity[k]! < orders.quantity[k]!) note("a fill in parts");
  }
  for (let k = 0; k < trades.count; k++) {
    const reason = trades.exitReason[k]!;
    note(reason === STILL_OPEN ? "a trade left open" : `exit by ${EXIT_REASONS[reason]}`);
    if (trades.ambiguous[k] !== 1) continue;
    note("an ambiguous trade");
    if (EXIT_REASONS[reason] === "margin_call") note("a margin call of an ambiguous trade");
  }
  if (equity.at(-1) === 0) note("an account that came to nothing");
  for (const mode of [execution.bothTouched, `exclusive ${execution.exclusive}`, execution.closeAtEnd]) note(mode);
}

/** The kinds that never came up. */
export function uncovered(coverage: Coverage): string[] {
  return [...coverage].filter(([, count]) => count === 0).map(([what]) => what);
}
