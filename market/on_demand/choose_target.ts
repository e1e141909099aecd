import type { Db } from "../../db/client.ts";
import {
  type AssetClass,
  findInstrument,
  findInstrumentsBySymbol,
  type Instrument,
  listMarketNames,
} from "../../db/instruments.ts";
import { FEED_LABELS, instruments } from "../../db/schema.ts";
import { compactSymbol } from "../feeds/symbols.ts";
import { FeedError, type Feeds } from "../feeds/feed.ts";
import { findNearest } from "../nearest_name.ts";
import { describeFeedExchanges, listFeedExchanges } from "./describe_feeds.ts";
import { describeTaken, type Target } from "../ingestion/fetch_series.ts";

/** A request for candles by name; only the symbol is required. */
interface TargetQuery {
  readonly symbol: string;
  readonly exchange?: string | undefined;
  readonly assetClass?: AssetClass | undefined;
  readonly provider?: (typeof FEED_LABELS)[number] | undefined;
}

/** The archive does not hold the symbol, and no feed can have it. */
export class UnknownTargetError extends Error {
  override readonly name = "UnknownTargetError";

  /** @param hint Tells how to name it, or to get its candles; empty without one. */
  constructor(message: string, readonly hint = "") {
    super(hint === "" ? message : `${message}: ${hint}`);
  }
}

/**
 * Chooses the instrument that answers a query: one that exists, or else those that a feed may know. Without a provider's label the archive
 * comes first, then provider_a, then provider_b. Where nothing tells the asset class there is one for each class that has a feed.
 *
 * @returns In the order in which `completeFirst` tries them.
 * @throws {UnknownTargetError}
 * @throws {FeedError} `not_configured` where the only possible feed lacks a setting.
 */
export async function chooseTargets(
  db: Db,
  feeds: Feeds,
  query: TargetQuery,
): Promise<readonly [Target, ...Target[]]> {
  const { symbol, exchange, assetClass, provider } = query;
  const held = await findHeld(db, query);
  const fitting = held.find((instrument) => provider === undefined || instrument.provider === provider);
  if (fitting !== undefined) return [fitting];
  const known = assetClass ?? held[0]?.assetClass;
  const where = exchange === undefined ? "" : ` on ${exchange}`;
  const found = findFeeds(feeds, { ...query, assetClass: known });
  const classes = [...new Set(found.targets.map((target) => target.assetClass))];
  const firsts = classes.flatMap((name) => found.targets.find((target) => target.assetClass === name) ?? []);
  const usable: Target[] = [];
  let taken: UnknownTargetError | undefined;
  for (const target of firsts) {
    const other = await findInstrument(db, target);
    // Another request may have created it in the meantime.
    if (other === undefined || (other.assetClass === target.assetClass && other.provider === target.provider)) {
      usable.push(other ?? target);
    } else taken ??= new UnknownTargetError(describeTaken(target, other));
  }
  const [first, ...rest] = usable;
  if (first !== undefined) return [first, ...rest];
  // Without a class or an exchange, a feed that is not configured is no likelier than the others.
  const reason = known === undefined && exchange === undefined ? undefined : found.error;
  throw taken ?? reason ??
    new UnknownTargetError(
      `Cannot find candles of ${known ?? "any"} ${symbol}${where}`,
      await hintAt(db, feeds, query),
    );
}

/**
 * Completes the first of the targets whose feed has it.
 *
 * @throws {FeedError} The last one's where no feed knows the symbol; else that of the first feed which could not tell.
 */
export async function completeFirst(
  targets: readonly Target[],
  complete: (target: Target) => Promise<Instrument>,
): Promise<Instrument> {
  let unknown: unknown;
  for (const target of targets) {
    try {
      return await complete(target);
    } catch (error) {
      if (!(error instanceof FeedError) || error.fault !== "unknown_symbol") throw error;
      unknown = error;
    }
  }
  throw unknown;
}

/**
 * The instruments that have the symbol, or else those that write it in another way: BTC/USDT is BTCUSDT. The exchange is found in any
 * case where none has it as it is written.
 */
async function findHeld(db: Db, { symbol, exchange, assetClass }: TargetQuery): Promise<Instrument[]> {
  const find = async (name: string) => {
    const held = await findInstrumentsBySymbol(db, { symbol: name, exchange, assetClass });
    if (held.length > 0 || exchange === undefined) return held;
    const others = await findInstrumentsBySymbol(db, { symbol: name, assetClass });
    return others.filter((instrument) => isSameExchange(instrument.exchange, exchange));
  };
  const held = await find(symbol);
  const compact = compactSymbol(symbol);
  if (held.length > 0 || compact === symbol) return held;
  return (await find(compact)).filter((instrument) => instrument.assetClass !== "stock");
}

/** True if a feed may have an instrument of this name, or lacks no more than a setting for it. */
export function canBeServed(
  feeds: Feeds,
  { symbol, exchange }: { readonly symbol: string; readonly exchange: string },
): boolean {
  const { targets, error } = findFeeds(feeds, { symbol, exchange });
  return targets.length > 0 || error !== undefined;
}

function findFeeds(feeds: Feeds, { symbol, exchange, assetClass, provider }: TargetQuery) {
  const targets: Target[] = [];
  let error: FeedError | undefined;
  for (const label of provider === undefined ? FEED_LABELS : [provider]) {
    for (const each of assetClass === undefined ? instruments.assetClass.enumValues : [assetClass]) {
      try {
        const feed = feeds({ provider: label, assetClass: each });
        if (feed === undefined || (exchange !== undefined && !isSameExchange(feed.exchange, exchange))) continue;
        // Each spelling of a pair would otherwise have an archive of its own. The case matters for stocks: BACpL is a preferred share.
        const name = each === "stock" ? symbol : compactSymbol(symbol);
        targets.push({ symbol: name, exchange: feed.exchange, assetClass: each, provider: label });
      } catch (reason) {
        if (!(reason instanceof FeedError)) throw reason;
        // A feed that is not configured might have answered a query without an exchange, or with its own.
        if (exchange === undefined || isSameExchange(reason.lacking?.exchange, exchange)) error = reason;
      }
    }
  }
  return { targets, error };
}

/** Exchanges of feeds are found in any case: Binance is BINANCE. */
export function isSameExchange(known: string | undefined, exchange: string): boolean {
  return known?.toUpperCase() === exchange.toUpperCase();
}

/** The nearest names of a query that finds nothing, and the exchanges that it could have named. */
export async function hintAt(db: Db, feeds: Feeds, { symbol, exchange }: TargetQuery): Promise<string> {
  const served = listFeedExchanges(feeds);
  const held = await listMarketNames(db);
  const near = [
    findNearest(symbol, held.symbols.filter((name) => name !== symbol)),
    exchange === undefined ? undefined : findNearest(
      exchange,
      [...held.exchanges, ...served.map((feed) => feed.exchange)].filter((name) => name !== exchange),
    ),
  ].filter((name) => name !== undefined);
  return [
    ...(near.length === 0 ? [] : [`did you mean ${near.join(" or ")}?`]),
    ...(served.length === 0 ? [] : [`feeds serve ${describeFeedExchanges(served)}`]),
    "candles of others must be imported",
  ].join("; ");
}
