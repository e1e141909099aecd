import { z } from "zod";
import type { Trade } from "../../db/codec/trade_rows.ts";
import type { Backtest } from "../../db/backtests.ts";
import { reasonsOf } from "./builtin_lines.ts";
import { marketsOf } from "./owned_backtest.ts";

const numbers = z.array(z.number());
const optional = z.array(z.number().nullable());

/** Trades in columns, oldest first: a tenth of the bytes of rows. Times are milliseconds since 1970; the fields are those of a trade. */
export const tradeColumnsSchema = z.object({
  number: numbers,
  is_long: z.array(z.boolean()),
  quantity: numbers,
  entry_time: numbers,
  entry_price: numbers,
  exit_time: optional,
  exit_price: optional,
  fees: numbers,
  pnl: numbers,
  return: numbers,
  candles: numbers,
  mae: numbers,
  mfe: numbers,
  exit_reason: z.array(z.string().nullable()),
  ambiguous: z.array(z.boolean()),
  tag: z.array(z.string().nullable()),
  entry_order: optional,
  exit_order: optional,
  exit_tag: z.array(z.string().nullable()),
  instrument: z.array(z.string().nullable()),
  currency: z.array(z.string().nullable()),
  /** Words of a built-in strategy for its entries and for exits by its orders; null for code of a user. */
  reasons: z.object({
    long: z.string(),
    short: z.string().nullable(),
    exit_long: z.string().nullable(),
    exit_short: z.string().nullable(),
  }).nullable(),
});

/** The trades of a run, with the words of its strategy. */
export function toTradeColumns(trades: readonly Trade[], row: Backtest): z.infer<typeof tradeColumnsSchema> {
  const markets = marketsOf(row);
  return {
    number: trades.map((trade) => trade.number),
    is_long: trades.map(({ side }) => side === "long"),
    quantity: trades.map(({ quantity }) => quantity),
    entry_time: trades.map(({ entryTime }) => entryTime.getTime()),
    entry_price: trades.map(({ entryPrice }) => entryPrice),
    exit_time: trades.map(({ exitTime }) => exitTime?.getTime() ?? null),
    exit_price: trades.map(({ exitPrice }) => exitPrice),
    fees: trades.map(({ fees }) => fees),
    pnl: trades.map(({ pnl }) => pnl),
    return: trades.map((trade) => trade.return),
    candles: trades.map(({ candles }) => candles),
    mae: trades.map(({ mae }) => mae),
    mfe: trades.map(({ mfe }) => mfe),
    exit_reason: trades.map(({ exitReason }) => exitReason),
    ambiguous: trades.map(({ ambiguous }) => ambiguous),
    tag: trades.map(({ tag }) => tag),
    entry_order: trades.map(({ entryOrder }) => entryOrder),
    exit_order: trades.map(({ exitOrder }) => exitOrder),
    exit_tag: trades.map(({ exitTag }) => exitTag),
    instrument: trades.map(({ market }) => market === null ? null : markets[market]?.instrument ?? null),
    currency: trades.map(({ market }) => market === null ? null : markets[market]?.currency ?? null),
    reasons: reasonsOf(row),
  };
}
