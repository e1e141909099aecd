import type { Execution } from "./execution.ts";
import { ORDER_REASONS, type OrderColumns, REJECTED } from "./order_columns.ts";

/** The part of a run's settings that its decisions are told by. */
interface Range {
  readonly candles: { readonly time: Float64Array };
  readonly firstIndex: number;
  readonly execution: Pick<Execution, "lookback">;
}

// In fewer candles, a late first order says nothing.
const LATE_DECISIONS_MIN = 100;
// Where the archive begins with the range, each indicator waits: a smaller part of the range changes no figure much.
const WAITED_PART_MIN = 0.1;

/**
 * Notes that a strategy waited for more than a tenth of the range before it could decide, or placed no order or a late one.
 *
 * @param warmup Candles that its first decision needs, the deciding one included.
 */
export function describeDecisions(settings: Range, warmup: number, orders: OrderColumns): string[] {
  const { candles: { time }, firstIndex } = settings;
  const first = Math.max(firstIndex, warmup - 1);
  const due = time.length - first;
  if (due <= 0) {
    const had = `the run had ${time.length}, of which ${firstIndex} are from before the range`;
    return [
      `No decision was due: the strategy needs ${warmup} candles, and ${had}. ` +
      `Choose a range of more candles, or ${remedy(settings)}`,
    ];
  }
  const notes = describeRefusals(orders);
  if (first - firstIndex > WAITED_PART_MIN * (time.length - firstIndex)) {
    notes.push(
      `The first decision came at ${nameCandle(settings, first)}: the strategy needs ${warmup} candles, that one ` +
        `included, and ${firstIndex} from before the range were there. Begin the range later, or ${remedy(settings)}`,
    );
  }
  if (orders.count === 0) return [...notes, `The strategy placed no order at any of its ${due} decisions`];
  const ordered = time.indexOf(orders.time[0]!, first);
  if (due >= LATE_DECISIONS_MIN && ordered - first > due / 2) {
    notes.push(
      `The first order came at ${nameCandle(settings, ordered)}: the strategy placed none at ${
        ordered - first
      } decisions before it`,
    );
  }
  return notes;
}

function remedy({ execution: { lookback } }: Range): string {
  return lookback ? "import older candles" : "switch execution.lookback on";
}

function nameCandle({ candles: { time }, firstIndex }: Range, index: number): string {
  const moment = new Date(time[index]!).toISOString();
  return `candle ${index - firstIndex + 1} of ${time.length - firstIndex} (${moment})`;
}

/** How many orders the simulator refused, and why, the most frequent reason first; no line where none was. */
export function describeRefusals({ count, status, reason }: OrderColumns): string[] {
  const counts = new Map<number, number>();
  for (let row = 0; row < count; row++) {
    if (status[row] === REJECTED) counts.set(reason[row]!, (counts.get(reason[row]!) ?? 0) + 1);
  }
  if (counts.size === 0) return [];
  const reasons = [...counts].sort(([, a], [, b]) => b - a);
  const refused = reasons.reduce((sum, [, times]) => sum + times, 0);
  const listed = reasons.map(([code, times]) => `${times} (${ORDER_REASONS[code]!})`).join(", ");
  return [`The simulator refused ${refused} of ${count} orders: ${listed}`];
}
