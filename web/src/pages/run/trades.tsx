import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { BacktestResult, TradeTable } from "../../api.ts";
import { Choice } from "../../parts/choice.tsx";
import { formatCount } from "../../parts/format.ts";
import { ariaSort, SortButton } from "../../parts/sort_button.tsx";
import { usePrinting } from "../../theme/theme.ts";
import { CutTrades, describeOpenTrades } from "../../parts/cut_trades.tsx";
import { type Sortable, type TradeColumn, tradeColumns } from "./trade_cells.ts";

const ROW_PX = 30;
const SIDES = ["all", "long", "short"] as const;
const RESULTS = ["all", "won", "lost", "open"] as const;

interface Sort {
  readonly by: Sortable;
  readonly isDown: boolean;
}

/** More would fill sheets that nobody reads. */
const ROWS_MAX = 500;

/**
 * All trades, sorted and filtered; a click shows one in the charts.
 *
 * @param market The instrument whose trades are shown; empty for all. @param chooseMarket Absent where there is no choice.
 * @param exportUrl The address of all trades, for a table that has only the first. @param first The number of the one chosen at first.
 */
export function Trades({ result, trades, market = "", chooseMarket, exportUrl, first, showTrade }: {
  readonly result: BacktestResult;
  readonly trades: TradeTable | undefined;
  readonly market?: string;
  readonly chooseMarket?: (instrument: string) => void;
  readonly exportUrl?: string | undefined;
  readonly first?: number | undefined;
  readonly showTrade: (i: number) => void;
}) {
  const isPrinting = usePrinting();
  const [sort, setSort] = useState<Sort>({ by: "number", isDown: false });
  const [side, setSide] = useState<(typeof SIDES)[number]>("all");
  const [outcome, setOutcome] = useState<(typeof RESULTS)[number]>("all");
  const rows = useMemo(
    () => trades === undefined ? [] : arrange(trades, sort, { market, side, outcome }),
    [trades, sort, market, side, outcome],
  );
  const open = describeOpenTrades(result);
  const markets = useMemo(() => ["", ...new Set(trades?.instrument.filter((each) => each !== null))], [trades]);
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
      <div className="mb-2 flex flex-wrap items-center gap-3 text-sm print:hidden">
        <Choice label="Side" values={SIDES} value={side} onChange={setSide} />
        <Choice label="Result" values={RESULTS} value={outcome} onChange={setOutcome} />
        {chooseMarket !== undefined && markets.length > 1 && (
          <Choice
            label="Market"
            values={markets}
            labelOf={(each) => each || "all"}
            value={market}
            onChange={chooseMarket}
          />
        )}
        <p className="text-muted" role="status">
          {formatCount(rows.length)} of {formatCount(trades.number.length)} trades{open && ` (${open})`}
        </p>
      </div>
      <CutTrades result={result} trades={trades} exportUrl={exportUrl} />
      {isPrinting
        ? <PaperTrades trades={trades} rows={rows} />
        : <TradeRows trades={trades} rows={rows} sort={sort} setSort={setSort} first={first} showTrade={showTrade} />}
    </>
  );
}

/** The table; only the rows in view are in the page. */
function TradeRows({ trades, rows, sort, setSort, first, showTrade }: {
  readonly trades: TradeTable;
  readonly rows: readonly number[];
  readonly sort: Sort;
  readonly setSort: (sort: Sort) => void;
  readonly first: number | undefined;
  readonly showTrade: (i: number) => void;
}) {
  const [chosen, setChosen] = useState<number | null>(() => first === undefined ? null : trades.number.indexOf(first));
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
  });
  const columns = useMemo(() => tradeColumns(trades), [trades]);
  const grid = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  const select = (i: number) => {
    setChosen(i);
    showTrade(i);
  };
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Trades"
      className="max-h-[32rem] overflow-auto min-[2000px]:max-h-[max(32rem,100dvh-32rem)]"
    >
      <div role="table" aria-label="Trades" aria-rowcount={rows.length + 1} className="min-w-max text-sm">
        <div
          role="row"
          style={grid}
          className="sticky top-0 z-1 grid border-b border-line bg-surface text-xs text-muted"
        >
          {columns.map((column) => <Heading key={column.label} column={column} sort={sort} setSort={setSort} />)}
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
                style={{ ...grid, height: ROW_PX, transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 grid cursor-pointer items-center border-b border-line/60 hover:bg-sunken aria-[current=true]:bg-sunken"
              >
                <Cells columns={columns} trades={trades} i={i} />
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cells({ columns, trades, i }: {
  readonly columns: readonly TradeColumn[];
  readonly trades: TradeTable;
  readonly i: number;
}) {
  return columns.map(({ label, show, tone, isText }) => (
    <div key={label} role="cell" className={`truncate px-2 ${isText ? "" : "text-right"} ${tone?.(trades, i) ?? ""}`}>
      {show(trades, i)}
    </div>
  ));
}

function Heading({ column: { label, sort: by, isText }, sort, setSort }: {
  readonly column: TradeColumn;
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
  { market, side, outcome }: {
    readonly market: string;
    readonly side: (typeof SIDES)[number];
    readonly outcome: (typeof RESULTS)[number];
  },
): number[] {
  const rows = trades.number.map((_, i) => i).filter((i) =>
    (market === "" || trades.instrument[i] === market) && (side === "all" || (side === "long") === trades.is_long[i]) &&
    fits(trades, i, outcome)
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

/** Trades as they are printed: as many columns as a sheet is wide. @param rows Indexes of the trades, in their order. */
function PaperTrades({ trades, rows }: { readonly trades: TradeTable; readonly rows: readonly number[] }) {
  const columns = tradeColumns(trades).filter(({ isWide }) => !isWide);
  return (
    <>
      <table className="w-full text-right text-2xs">
        <thead className="text-muted">
          <tr>
            {columns.map(({ label, isText }) => (
              <th key={label} scope="col" className={`px-1 font-medium ${isText ? "text-left" : ""}`}>{label}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, ROWS_MAX).map((i) => (
            <tr key={i} className="break-inside-avoid border-t border-line/60">
              {columns.map(({ label, show, tone, isText }) => (
                <td key={label} className={`px-1 ${isText ? "text-left" : ""} ${tone?.(trades, i) ?? ""}`}>
                  {show(trades, i)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > ROWS_MAX && (
        <p className="mt-1 text-muted">
          {formatCount(ROWS_MAX)} of {formatCount(rows.length)} trades are printed.
        </p>
      )}
    </>
  );
}
