import type { Db } from "../../db/client.ts";
import { type AssetClass, findInstrument, findInstrumentsBySymbol } from "../../db/instruments.ts";
import { FEED_LABELS, instruments } from "../../db/schema.ts";
import { FeedError, type Feeds } from "../feeds/feed.ts";
import { describeTaken, type Target } from "../ingestion/fetch_series.ts";

/** How candles are asked for: all but the symbol may be left open. */
export interface TargetQuery {
  readonly symbol: string;
  readonly exchange?: string | undefined;
  readonly assetClass?: AssetClass | undefined;
  readonly provider?: (typeof FEED_LABELS)[number] | undefined;
}

/** Nothing is held of the symbol that would tell its asset class, and the query does not either. */
export class AssetClassNeededError extends Error {
  override readonly name = "AssetClassNeededError";
}

/** Nothing is held of the symbol, and no feed could have it. */
export class UnknownTargetError extends Error {
  override readonly name = "UnknownTargetError";
}

/**
 * Finds whose candles answer a query: an instrument that exists, else one that a feed may know. Without a provider's label the archive
 * comes first, then provider_a, then provider_b.
 *
 * @throws {AssetClassNeededError | UnknownTargetError}
 * @throws {FeedError} `not_configured` where the only feed that could answer lacks something.
 */
export async function chooseTarget(db: Db, feeds: Feeds, query: TargetQuery): Promise<Target> {
  const { symbol, exchange, assetClass, provider } = query;
  const held = await findInstrumentsBySymbol(db, { symbol, exchange, assetClass });
  const fitting = held.find((instrument) => provider === undefined || instrument.provider === provider);
  if (fitting !== undefined) return fitting;
  const known = assetClass ?? held[0]?.assetClass;
  const where = exchange === undefined ? "" : ` on ${exchange}`;
  if (known === undefined && exchange === undefined) {
    throw new AssetClassNeededError(`no candles of ${symbol} are held that would tell it`);
  }
  const found = findFeeds(feeds, { ...query, assetClass: known });
  const [first] = found.targets;
  if (first === undefined) {
    throw found.error ?? new UnknownTargetError(`Cannot find candles of ${known ?? "any"} ${symbol}${where}`);
  }
  const taken = await findInstrument(db, first);
  // It has come since: somebody asked for the same at the same time.
  if (taken?.assetClass === first.assetClass && taken.provider === first.provider) return taken;
  if (taken !== undefined) throw new UnknownTargetError(describeTaken(first, taken));
  // An exchange's label can tell the asset class, unless its feed has several.
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
        // Whether a feed that is not set up has the exchange cannot be known; without an exchange, it might have answered.
        if (exchange === undefined) error = reason;
      }
    }
  }
  return { targets, error };
}
