import type { Db } from "../../db/client.ts";
import { type AssetClass, findInstrument, findInstrumentsBySymbol } from "../../db/instruments.ts";
import { FEED_LABELS, instruments } from "../../db/schema.ts";
import { FeedError, type Feeds } from "../feeds/feed.ts";
import { describeTaken, type Target } from "../ingestion/fetch_series.ts";

/** A request for candles by name; only the symbol is required. */
export interface TargetQuery {
  readonly symbol: string;
  readonly exchange?: string | undefined;
  readonly assetClass?: AssetClass | undefined;
  readonly provider?: (typeof FEED_LABELS)[number] | undefined;
}

/** Neither the query nor the archive tells the asset class of the symbol. */
export class AssetClassNeededError extends Error {
  override readonly name = "AssetClassNeededError";
}

/** The archive does not hold the symbol, and no feed can have it. */
export class UnknownTargetError extends Error {
  override readonly name = "UnknownTargetError";
}

/**
 * Chooses the instrument that answers a query: one that exists, or else one that a feed may know. Without a provider's label the archive
 * comes first, then provider_a, then provider_b.
 *
 * @throws {AssetClassNeededError | UnknownTargetError}
 * @throws {FeedError} `not_configured` where the only possible feed lacks a setting.
 */
export async function chooseTarget(db: Db, feeds: Feeds, query: TargetQuery): Promise<Target> {
  const { symbol, exchange, assetClass, provider } = query;
  const held = await findInstrumentsBySymbol(db, { symbol, exchange, assetClass });
  const fitting = held.find((instrument) => provider === undefined || instrument.provider === provider);
  if (fitting !== undefined) return fitting;
  const known = assetClass ?? held[0]?.assetClass;
  const where = exchange === undefined ? "" : ` on ${exchange}`;
  if (known === undefined && exchange === undefined) {
    throw new AssetClassNeededError(`no candles of ${symbol} are stored that would tell it`);
  }
  const found = findFeeds(feeds, { ...query, assetClass: known });
  const [first] = found.targets;
  if (first === undefined) {
    throw found.error ?? new UnknownTargetError(`Cannot find candles of ${known ?? "any"} ${symbol}${where}`);
  }
  const taken = await findInstrument(db, first);
  // Another request may have created it in the meantime.
  if (taken?.assetClass === first.assetClass && taken.provider === first.provider) return taken;
  if (taken !== undefined) throw new UnknownTargetError(describeTaken(first, taken));
  // An exchange's name tells the asset class, unless its feed has several.
  if (found.targets.some((target) => target.assetClass !== first.assetClass)) {
    throw new AssetClassNeededError(`${exchange} has instruments of several classes`);
  }
  return first;
}

function findFeeds(feeds: Feeds, { symbol, exchange, assetClass, provider }: TargetQuery) {
  const targets: Target[] = [];
  let error: FeedError | undefined;
  for (const label of provider === undefined ? FEED_LABELS : [provider]) {
    for (const each of assetClass === undefined ? instruments.assetClass.enumValues : [assetClass]) {
      try {
        const feed = feeds({ provider: label, assetClass: each });
        if (feed === undefined || (exchange !== undefined && feed.exchange !== exchange)) continue;
        targets.push({ symbol, exchange: feed.exchange, assetClass: each, provider: label });
      } catch (reason) {
        if (!(reason instanceof FeedError)) throw reason;
        // A feed that is not configured might have answered a query without an exchange.
        if (exchange === undefined) error = reason;
      }
    }
  }
  return { targets, error };
}
