import type { TradeTable } from "../../api.ts";
import {
  formatCount,
  formatExact,
  formatMoney,
  formatPercent,
  formatTime,
  shortZone,
  toneClass,
} from "../../parts/format.ts";
import { entryReason, exitReason } from "./chart/trade_reasons.ts";

/** A column of numbers by which trades can be sorted. */
export type Sortable =
  | "number"
  | "quantity"
  | "entry_time"
  | "exit_time"
  | "pnl"
  | "return"
  | "candles"
  | "mae"
  | "mfe"
  | "fees";

/** A column of a table of trades. */
export interface TradeColumn {
  readonly label: string;
  readonly sort?: Sortable;
  readonly width: string;
  readonly show: (trades: TradeTable, i: number) => string;
  readonly tone?: (trades: TradeTable, i: number) => string;
  readonly isText?: true;
  /** Text of two lines. */
  readonly isLong?: true;
  /** A sheet of paper has no room for it. */
  readonly isWide?: true;
}

const NUMBER: TradeColumn = { label: "#", sort: "number", width: "3.25rem", show: (t, i) => formatCount(t.number[i]) };
const MARKET: TradeColumn = {
  label: "Market",
  width: "6.25rem",
  show: (t, i) => t.instrument[i] ?? "",
  ...{ isText: true, isLong: true },
};
const SIDE: TradeColumn = {
  label: "Side",
  width: "3rem",
  show: (t, i) => t.is_long[i] ? "long" : "short",
  isText: true,
};
// The date above the hour.
const TIME = { width: "5.25rem", isLong: true } as const;
const PRICE_WIDTH = "5.5rem";

/**
 * The columns of a table of trades, in their order; those of a run over many markets name the market. All of them fit the page of a
 * screen of 1,440 pixels.
 *
 * @param zone IANA name, of the times.
 */
export function tradeColumns(isPortfolio: boolean, zone: string): readonly TradeColumn[] {
  return [
    ...[NUMBER, ...(isPortfolio ? [MARKET] : []), SIDE],
    {
      label: `Entry (${shortZone(zone)})`,
      sort: "entry_time",
      show: (t, i) => formatTime(t.entry_time[i]!, zone),
      ...TIME,
    },
    { label: "Entry price", width: PRICE_WIDTH, show: (t, i) => formatExact(t.entry_price[i]) },
    {
      label: `Exit (${shortZone(zone)})`,
      sort: "exit_time",
      show: (t, i) => formatTime(t.exit_time[i] ?? null, zone),
      ...TIME,
    },
    { label: "Exit price", width: PRICE_WIDTH, show: (t, i) => formatExact(t.exit_price[i]) },
    ...RESULT_COLUMNS,
  ];
}

const REASON_WIDTH = "minmax(8.5rem,1fr)";
const RESULT_COLUMNS: readonly TradeColumn[] = [
  {
    label: "P&L",
    sort: "pnl",
    width: "5.75rem",
    show: (t, i) => formatMoney(t.pnl[i], true),
    tone: (t, i) => toneClass(t.pnl[i]),
  },
  {
    label: "Return",
    sort: "return",
    width: "4.5rem",
    show: (t, i) => formatPercent(t.return[i], true),
    tone: (t, i) => toneClass(t.return[i]),
  },
  {
    label: "Entry reason",
    width: REASON_WIDTH,
    show: (t, i) => joinPresent([entryReason(t, i), showOrder(t.entry_order[i])]),
    ...{ isText: true, isLong: true },
  },
  {
    label: "Exit reason",
    width: REASON_WIDTH,
    show: (t, i) => {
      const reason = exitReason(t, i) ?? "open";
      return joinPresent([`${reason}${t.ambiguous[i] ? ", ambiguous" : ""}`, showOrder(t.exit_order[i])]);
    },
    ...{ isText: true, isLong: true },
  },
  { label: "Quantity", sort: "quantity", width: "5.75rem", show: (t, i) => formatExact(t.quantity[i]) },
  { label: "MAE", isWide: true, sort: "mae", width: "4.25rem", show: (t, i) => formatPercent(t.mae[i]) },
  { label: "MFE", isWide: true, sort: "mfe", width: "4.25rem", show: (t, i) => formatPercent(t.mfe[i]) },
  { label: "Candles", isWide: true, sort: "candles", width: "4.25rem", show: (t, i) => formatCount(t.candles[i]) },
  { label: "Fees", isWide: true, sort: "fees", width: "4.75rem", show: (t, i) => formatMoney(t.fees[i]) },
];

function showOrder(number: number | null | undefined): string | null {
  return number == null ? null : `order ${formatCount(number)}`;
}

function joinPresent(parts: readonly (string | null | undefined)[]): string {
  return parts.filter((part) => part != null && part !== "").join(" · ");
}
