import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { TradeTable } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import {
  formatCount,
  formatExact,
  formatMoney,
  formatPercent,
  formatTime,
  toneClass,
  toWords,
} from "../../parts/format.ts";
import { ariaSort, SortButton } from "../../parts/sort_button.tsx";

const ROW_PX = 30;
const SIDES = ["all", "long", "short"] as const;
const RESULTS = ["all", "won", "lost", "open"] as const;

type Sortable =
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

interface Sort {
  readonly by: Sortable;
  readonly isDown: boolean;
}

interface Column {
  readonly label: string;
  readonly sort?: Sortable;
  readonly width: string;
  readonly show: (trades: TradeTable, i: number) => string;
  readonly tone?: (trades: TradeTable, i: number) => string;
  readonly isText?: true;
}

const COLUMNS: readonly Column[] = [
  { label: "#", sort: "number", width: "4rem", show: (t, i) => formatCount(t.number[i]) },
  { label: "Side", width: "4rem", show: (t, i) => t.is_long[i] ? "long" : "short", isText: true },
  { label: "Entry (UTC)", sort: "entry_time", width: "9rem", show: (t, i) => formatTime(t.entry_time[i]!) },
  { label: "Exit (UTC)", sort: "exit_time", width: "9rem", show: (t, i) => formatTime(t.exit_time[i] ?? null) },
  { label: "Quantity", sort: "quantity", width: "7rem", show: (t, i) => formatExact(t.quantity[i]) },
  { label: "Entry price", width: "7rem", show: (t, i) => formatExact(t.entry_price[i]) },
  { label: "Exit price", width: "7rem", show: (t, i) => formatExact(t.exit_price[i]) },
  {
    label: "P&L",
    sort: "pnl",
    width: "8rem",
    show: (t, i) => formatMoney(t.pnl[i], true),
    tone: (t, i) => toneClass(t.pnl[i]),
  },
  {
    label: "Return",
    sort: "return",
    width: "6rem",
    show: (t, i) => formatPercent(t.return[i], true),
    tone: (t, i) => toneClass(t.return[i]),
  },
  { label: "MAE", sort: "mae", width: "5.5rem", show: (t, i) => formatPercent(t.mae[i]) },
  { label: "MFE", sort: "mfe", width: "5.5rem", show: (t, i) => formatPercent(t.mfe[i]) },
  { label: "Candles", sort: "candles", width: "5rem", show: (t, i) => formatCount(t.candles[i]) },
  { label: "Fees", sort: "fees", width: "6rem", show: (t, i) => formatMoney(t.fees[i]) },
  {
    label: "Exit",
    width: "minmax(8rem,1fr)",
    show: (t, i) =>
      `${toWords(t.exit_reason[i] ?? "open")}${t.ambiguous[i] ? ", ambiguous" : ""}${t.tag[i] ? ` · ${t.tag[i]}` : ""}`,
    isText: true,
  },
];
const GRID = { gridTemplateColumns: COLUMNS.map(({ width }) => width).join(" ") };

/** All trades, sorted and filtered; a click shows one in the charts. */
export function Trades({ trades, showTrade }: {
  readonly trades: TradeTable | undefined;
  readonly showTrade: (i: number) => void;
}) {
  const [sort, setSort] = useState<Sort>({ by: "number", isDown: false });
  const [side, setSide] = useState<(typeof SIDES)[number]>("all");
  const [outcome, setOutcome] = useState<(typeof RESULTS)[number]>("all");
  const rows = useMemo(
    () => trades === undefined ? [] : arrange(trades, sort, side, outcome),
    [trades, sort, side, outcome],
  );
  if (trades === undefined) return <p role="status" className="p-8 text-center text-muted">Loading the trades …</p>;
  if (trades.number.length === 0) {
    return (
      <p className="p-8 text-center text-muted">
        The strategy made no trade. Its orders, if it placed any, say why; else its conditions never came true in this
        range.
      </p>
    );
  }
  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-3 text-sm">
        <Choice label="Side" values={SIDES} value={side} onChange={setSide} />
        <Choice label="Result" values={RESULTS} value={outcome} onChange={setOutcome} />
        <p className="text-muted" role="status">
          {formatCount(rows.length)} of {formatCount(trades.number.length)} trades
        </p>
      </div>
      <TradeRows trades={trades} rows={rows} sort={sort} setSort={setSort} showTrade={showTrade} />
    </>
  );
}

/** The table; only the rows in view are in the page. */
function TradeRows({ trades, rows, sort, setSort, showTrade }: {
  readonly trades: TradeTable;
  readonly rows: readonly number[];
  readonly sort: Sort;
  readonly setSort: (sort: Sort) => void;
  readonly showTrade: (i: number) => void;
}) {
  const [chosen, setChosen] = useState<number | null>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const select = (i: number) => {
    setChosen(i);
    showTrade(i);
  };
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label="Trades" className="max-h-[32rem] overflow-auto">
      <div role="table" aria-label="Trades" aria-rowcount={rows.length + 1} className="min-w-max text-sm">
        <div
          role="row"
          style={GRID}
          className="sticky top-0 z-1 grid border-b border-line bg-surface text-xs text-muted"
        >
          {COLUMNS.map((column) => <Heading key={column.label} column={column} sort={sort} setSort={setSort} />)}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index, start }) => {
            const i = rows[index]!;
            return (
              <div
                key={i}
                role="row"
                aria-rowindex={index + 2}
                aria-current={chosen === i}
                tabIndex={0}
                onClick={() => select(i)}
                onKeyDown={(event) => event.key === "Enter" && select(i)}
                style={{ ...GRID, height: ROW_PX, transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 grid cursor-pointer items-center border-b border-line/60 hover:bg-sunken aria-[current=true]:bg-sunken"
              >
                <Cells trades={trades} i={i} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ trades, i }: { readonly trades: TradeTable; readonly i: number }) {
  return COLUMNS.map(({ label, show, tone, isText }) => (
    <div key={label} role="cell" className={`truncate px-2 ${isText ? "" : "text-right"} ${tone?.(trades, i) ?? ""}`}>
      {show(trades, i)}
    </div>
  ));
}

function Heading({ column: { label, sort: by, isText }, sort, setSort }: {
  readonly column: Column;
  readonly sort: Sort;
  readonly setSort: (sort: Sort) => void;
}) {
  const isDown = by === sort.by ? sort.isDown : undefined;
  const align = isText ? "text-left" : "text-right";
  return (
    <div
      role="columnheader"
      aria-sort={ariaSort(isDown)}
      className={`px-2 py-1.5 ${align}`}
    >
      {by === undefined ? label : (
        <SortButton
          label={label}
          isDown={isDown}
          onClick={() => setSort({ by, isDown: isDown === undefined ? by !== "number" : !isDown })}
        />
      )}
    </div>
  );
}

/** Indexes of the trades to show, in their order. */
function arrange(
  trades: TradeTable,
  { by, isDown }: Sort,
  side: (typeof SIDES)[number],
  outcome: (typeof RESULTS)[number],
): number[] {
  const rows = trades.number.map((_, i) => i).filter((i) =>
    (side === "all" || (side === "long") === trades.is_long[i]) && fits(trades, i, outcome)
  );
  const values = trades[by];
  const sign = isDown ? -1 : 1;
  // An open trade has no exit; it counts as the latest.
  const valueOf = (i: number) => values[i] ?? Infinity;
  return rows.sort((a, b) => valueOf(a) === valueOf(b) ? a - b : sign * (valueOf(a) < valueOf(b) ? -1 : 1));
}

function fits(trades: TradeTable, i: number, outcome: (typeof RESULTS)[number]): boolean {
  if (outcome === "all") return true;
  if (outcome === "open") return trades.exit_time[i] === null;
  return outcome === "won" ? trades.pnl[i]! > 0 : trades.pnl[i]! < 0;
}
