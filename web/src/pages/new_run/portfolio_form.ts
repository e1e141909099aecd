/** The part of the form that asks for many markets with one account. */
import type { Backtest, Member } from "../../api.ts";
import { isRecord } from "../../parts/parameter_fields.ts";

/** The keys of `parameters` that the form makes of its markets. */
export const PORTFOLIO_KEYS = ["instruments", "universe", "portfolio"] as const;

/** A market of the form's list; dates come from an earlier run. */
export type ListedMarket = Pick<Member, "symbol" | "exchange"> & Partial<Pick<Member, "from" | "to">>;

/** The values of the fields. */
export interface PortfolioForm {
  /** Over what the run is made. */
  reach: "one" | "list" | "universe";
  instruments: ListedMarket[];
  /** A slug, with or without its version. */
  universe: string;
  /** Empty: all. */
  positions: string;
  rank: string;
  skipsMissing: boolean;
  /** Of the account; empty: that of its instruments. */
  currency: string;
  /** Of an optimization: one account trades all markets. False: each is tried by itself. */
  isShared: boolean;
}

/** The values with which the form begins. @param universe One that the address names. @param isMany True for a strategy that decides on many markets. */
export function startMarkets(
  earlier: Pick<Backtest, "parameters"> | undefined,
  universe = "",
  isMany = false,
): PortfolioForm {
  const { instruments, universe: named = universe, portfolio, execution } = earlier?.parameters ?? {};
  const list = Array.isArray(instruments) ? instruments.filter(isListed) : [];
  const shared = isRecord(portfolio) ? portfolio : {};
  const isNamed = typeof named === "string" && named !== "";
  return {
    reach: list.length > 0 ? "list" : isNamed ? "universe" : isMany ? "list" : "one",
    instruments: list,
    universe: isNamed ? named : "",
    positions: typeof shared["positions_max"] === "number" ? String(shared["positions_max"]) : "",
    rank: shared["rank"] === "score" ? "score" : "listed",
    skipsMissing: shared["missing"] === "skip",
    currency: isRecord(execution) ? String(execution["baseCurrency"] ?? "") : "",
    // The run that the form begins with had one account for them.
    isShared: isMany || list.length > 0 || earlier?.parameters["universe"] !== undefined,
  };
}

/** The rules of execution with the account's currency; a run over one market has none. */
export function withCurrency(rules: Readonly<Record<string, unknown>>, { reach, currency }: PortfolioForm) {
  const { baseCurrency: _earlier, ...others } = rules;
  const chosen = currency.trim().toUpperCase();
  return reach === "one" || chosen === "" ? others : { ...others, baseCurrency: chosen };
}

/** The keys of `parameters` that the fields stand for; none for one market. */
export function toMarkets({ reach, instruments, universe, positions, rank, skipsMissing }: PortfolioForm) {
  if (reach === "one") return {};
  return {
    ...(reach === "list" ? { instruments } : { universe }),
    portfolio: {
      ...(positions.trim() === "" ? {} : { positions_max: Number(positions) }),
      rank,
      missing: skipsMissing ? "skip" : "fail",
    },
  };
}

/** The markets of a scan that the fields stand for; none for one market, or for one account. */
export function toScan({ reach, instruments, universe, skipsMissing, isShared }: PortfolioForm) {
  if (reach === "one" || isShared) return {};
  const missing = skipsMissing ? "skip" as const : "fail" as const;
  const members = instruments.map(({ symbol, exchange, from, to }) => ({
    ...{ symbol, exchange },
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  }));
  return { markets: { ...(reach === "list" ? { instruments: members } : { universe }), missing } };
}

/** The field that a refusal is about; null for another. @param name The key of `parameters`. @param key Of the key's own. */
export function marketFieldAt(name: string, key: string | undefined) {
  if (name === "instruments") return "markets.instruments" as const;
  if (name === "universe") return "markets.universe" as const;
  if (name !== "portfolio") return null;
  return key === "rank" ? "markets.rank" as const : "markets.positions" as const;
}

function isListed(value: unknown): value is ListedMarket {
  return isRecord(value) && typeof value["symbol"] === "string" && typeof value["exchange"] === "string";
}
