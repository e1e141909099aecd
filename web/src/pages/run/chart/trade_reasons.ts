import type { TradeTable } from "../../../api.ts";
import { toWords } from "../../../parts/format.ts";

/** The reason of a trade's entry: the tag of its order, or the words of a built-in strategy; null where nobody gave one. */
export function entryReason({ tag, is_long: isLong, reasons }: TradeTable, i: number): string | null {
  return tag[i] ?? (reasons === null ? null : isLong[i] ? reasons.long : reasons.short);
}

/** The reason of a trade's exit: as for entries where an order of the strategy closed it, else what did; null while it is open. */
export function exitReason(trades: TradeTable, i: number): string | null {
  const { exit_reason: exits, exit_tag: tags, is_long: isLong, reasons } = trades;
  const by = exits[i] ?? null;
  if (by === null) return null;
  const words = by !== "signal" || reasons === null ? null : isLong[i] ? reasons.exit_long : reasons.exit_short;
  return tags[i] ?? words ?? toWords(by);
}
