import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import type { TradeAt } from "../../api.ts";
import { ariaSort, SortButton } from "../../parts/sort_button.tsx";
import type { TradeColumn } from "./trade_cells.ts";
import type { ArrangedTrades, Arrangement } from "./trade_pages.ts";

// Two lines of a reason; three where a column for the market leaves less room.
const [ROW_PX, TALL_ROW_PX] = [36, 50];

/** The order of a table, and a function that changes it. */
interface Sorting {
  readonly sort: Pick<Arrangement, "sort" | "order">;
  readonly setSort: (sort: Pick<Arrangement, "sort" | "order">) => void;
}

/** The table of trades; only the rows in view are in the page. @param first The number of the one chosen at first. */
export function TradeRows({ trades, columns, isTall, first, showTrade, ...sorting }: Sorting & {
  readonly trades: ArrangedTrades;
  readonly columns: readonly TradeColumn[];
  /** True for rows of three lines. */
  readonly isTall: boolean;
  readonly first: number | undefined;
  readonly showTrade: (trade: TradeAt) => void;
}) {
  const { count = 0, at, need } = trades;
  const rowPx = isTall ? TALL_ROW_PX : ROW_PX;
  const [chosen, setChosen] = useState(first);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: 16,
  });
  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const { isScrolling } = virtual;
  useEffect(() => need(from, to, isScrolling), [from, to, isScrolling, need]);
  const grid = { gridTemplateColumns: columns.map(({ width }) => width).join(" ") };
  const select = (trade: TradeAt | undefined) => {
    if (trade === undefined) return;
    setChosen(trade.table.number[trade.i]);
    showTrade(trade);
  };
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Trades"
      className="max-h-[32rem] overflow-auto min-[2000px]:max-h-[max(32rem,100dvh-32rem)]"
    >
      <div role="table" aria-label="Trades" aria-rowcount={count + 1} className="min-w-max text-xs">
        <div
          role="row"
          style={grid}
          className="sticky top-0 z-1 grid border-b border-line bg-surface text-xs text-muted"
        >
          {columns.map((column) => <Heading key={column.label} column={column} {...sorting} />)}
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const trade = at(index);
            return (
              <div
                key={index}
                role="row"
                aria-rowindex={index + 2}
                aria-current={trade !== undefined && trade.table.number[trade.i] === chosen}
                aria-busy={trade === undefined}
                tabIndex={0}
                onClick={() => select(trade)}
                onKeyDown={(event) => event.key === "Enter" && select(trade)}
                style={{ ...grid, height: rowPx, transform: `translateY(${start}px)` }}
                className="absolute inset-x-0 grid cursor-pointer items-center border-b border-line/60 hover:bg-sunken aria-[current=true]:bg-sunken"
              >
                {columns.map((column) => <Cell key={column.label} column={column} trade={trade} isTall={isTall} />)}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function Cell({ column: { show, tone, isText, isLong }, trade, isTall }: {
  readonly column: TradeColumn;
  readonly trade: TradeAt | undefined;
  readonly isTall: boolean;
}) {
  const lines = isTall ? "line-clamp-3" : "line-clamp-2";
  const look = trade === undefined ? "" : tone?.(trade.table, trade.i) ?? "";
  const text = trade === undefined ? "…" : show(trade.table, trade.i);
  return (
    <div
      role="cell"
      title={isLong && isText ? text : undefined}
      className={`px-1.5 ${isLong ? `${lines} wrap-anywhere` : "truncate"} ${isText ? "" : "text-right"} ${look}`}
    >
      {text}
    </div>
  );
}

function Heading({ column: { label, sort: by, isText }, sort: { sort, order }, setSort }: Sorting & {
  readonly column: TradeColumn;
}) {
  const isDown = by === sort ? order === "desc" : undefined;
  const turnsDown = isDown === undefined ? by !== "number" : !isDown;
  const align = isText ? "text-left" : "text-right [&_button]:text-right [&_button]:whitespace-normal";
  return (
    <div role="columnheader" aria-sort={ariaSort(isDown)} className={`px-1.5 py-1.5 ${align}`}>
      {by === undefined ? label : (
        <SortButton
          label={label}
          isDown={isDown}
          onClick={() => setSort({ sort: by, order: turnsDown ? "desc" : "asc" })}
        />
      )}
    </div>
  );
}
