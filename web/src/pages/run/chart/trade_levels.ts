import type { TradeAt } from "../../../api.ts";

/** A price of a trade, drawn across the candles. */
export interface TradeLevel {
  readonly price: number;
  readonly title: string;
  readonly color: "text" | "gain" | "loss";
}

/**
 * The prices of a trade: its entry and exit, and its stop and target where the parameters name them.
 *
 * @param parameters Those of the run; `stopLossLevel` and `takeProfitLevel` are fractions of the entry price.
 */
export function levelsOf(
  { table: trades, i }: TradeAt,
  parameters: Readonly<Record<string, unknown>>,
): readonly TradeLevel[] {
  const entry = trades.entry_price[i]!;
  const exit = trades.exit_price[i] ?? null;
  const toward = trades.is_long[i] ? 1 : -1;
  const stop = parameters["stopLossLevel"];
  const target = parameters["takeProfitLevel"];
  return [
    { price: entry, title: "Entry", color: "text" },
    ...(exit === null ? [] : [{ price: exit, title: "Exit", color: "text" } as const]),
    ...(typeof stop === "number" && stop > 0
      ? [{ price: entry * (1 - toward * stop), title: "Stop", color: "loss" } as const]
      : []),
    ...(typeof target === "number" && target > 0
      ? [{ price: entry * (1 + toward * target), title: "Target", color: "gain" } as const]
      : []),
  ];
}
