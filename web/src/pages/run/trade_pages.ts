import { type QueryKey, useQueries } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { api, type TradeAt, type TradeTable } from "../../api.ts";
import type { Sortable } from "./trade_cells.ts";

/** Trades of a page: as many as are printed. */
export const PAGE = 500;
// Pages that were scrolled by are forgotten soon.
const KEPT_MS = 60_000;

export const SIDES = ["all", "long", "short"] as const;
export const OUTCOMES = ["all", "won", "lost", "open"] as const;

/** The trades that a table shows, and their order. */
export interface Arrangement {
  readonly sort: Sortable;
  readonly order: "asc" | "desc";
  readonly side: (typeof SIDES)[number];
  readonly outcome: (typeof OUTCOMES)[number];
  /** `SPY@ARCA`; absent: all. */
  readonly instrument?: string;
}

/** Trades in an order, of which a page has some. */
export interface ArrangedTrades {
  /** How many there are; undefined until that is known. */
  readonly count: number | undefined;
  readonly error: unknown;
  /** The trade at a place of the order; undefined until it is loaded. */
  readonly at: (place: number) => TradeAt | undefined;
  /** Loads the trades from one place to another. @param isMoving True while they only pass by: then the ones close to loaded ones are. */
  readonly need: (from: number, to: number, isMoving: boolean) => void;
}

/** The trades of a run, which the service arranges. The first page stays: it is the one that is printed. */
export function useServedTrades(id: string, arrangement: Arrangement, isServed: boolean): ArrangedTrades {
  const [wanted, setWanted] = useState<readonly number[]>([0]);
  const pages = useQueries({
    queries: (isServed ? wanted : []).map((page) => {
      const after = page * PAGE;
      return api.backtests.tradeTable.queryOptions({ id, ...arrangement, after, limit: PAGE }, {
        ...{ staleTime: Infinity, gcTime: KEPT_MS },
        // The same place in the order before: nothing flickers when it changes.
        placeholderData: (before, query) =>
          query !== undefined && afterOf(query.queryKey) === after ? before : undefined,
      });
    }),
  });
  const tables = new Map(wanted.map((page, i) => [page, pages[i]?.data] as const));
  const need = useCallback((from: number, to: number, isMoving: boolean) => {
    const [first, last] = [Math.floor(from / PAGE), Math.floor(to / PAGE)];
    const seen = first === last ? [first] : [first, last];
    setWanted((before) => {
      const isKnown = seen.every((page) => before.includes(page));
      const isNear = before.some((page) => seen.includes(page));
      return isKnown || (isMoving && !isNear) ? before : [...new Set([0, ...seen])];
    });
  }, []);
  return {
    count: pages.find(({ data }) => data !== undefined)?.data?.matching,
    error: pages.find(({ error }) => error !== null)?.error,
    at: (place) => {
      const table = tables.get(Math.floor(place / PAGE));
      const i = place % PAGE;
      return table !== undefined && i < table.number.length ? { table, i } : undefined;
    },
    need,
  };
}

function afterOf([, options]: QueryKey): unknown {
  return Reflect.get(Object(Reflect.get(Object(options), "input")), "after");
}

/** Trades that a page has whole, arranged here. */
export function useLocalTrades(table: TradeTable | undefined, arrangement: Arrangement): ArrangedTrades {
  const { sort, order, side, outcome, instrument } = arrangement;
  const rows = useMemo(
    () => table === undefined ? [] : arrange(table, { sort, order, side, outcome, ...(instrument && { instrument }) }),
    [table, sort, order, side, outcome, instrument],
  );
  return {
    count: rows.length,
    error: undefined,
    at: (place) => table !== undefined && rows[place] !== undefined ? { table, i: rows[place] } : undefined,
    need: () => {},
  };
}

/** Indexes of the trades to show, in their order. */
function arrange(trades: TradeTable, { sort, order, side, outcome, instrument }: Arrangement): number[] {
  const rows = trades.number.map((_, i) => i).filter((i) =>
    (instrument === undefined || trades.instrument[i] === instrument) &&
    (side === "all" || (side === "long") === trades.is_long[i]) && fits(trades, i, outcome)
  );
  const values = trades[sort];
  const sign = order === "desc" ? -1 : 1;
  // An open trade has no exit; it counts as the latest.
  const valueOf = (i: number) => values[i] ?? Infinity;
  return rows.sort((a, b) => valueOf(a) === valueOf(b) ? a - b : sign * (valueOf(a) < valueOf(b) ? -1 : 1));
}

function fits(trades: TradeTable, i: number, outcome: Arrangement["outcome"]): boolean {
  if (outcome === "all") return true;
  if (outcome === "open") return trades.exit_time[i] === null;
  return outcome === "won" ? trades.pnl[i]! > 0 : trades.pnl[i]! < 0;
}
