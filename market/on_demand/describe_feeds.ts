import type { AssetClass } from "../../db/instruments.ts";
import { FEED_LABELS, instruments } from "../../db/schema.ts";
import { FeedError, type Feeds } from "../feeds/feed.ts";

/** An exchange under which the archive keeps a feed's candles. */
interface FeedExchange {
  readonly exchange: string;
  readonly assetClasses: readonly AssetClass[];
  /** The variable without which the feed cannot work; undefined where it is set. */
  readonly missing: string | undefined;
}

/** The exchanges of the bound feeds, in the order in which the feeds are asked. */
export function listFeedExchanges(feeds: Feeds): FeedExchange[] {
  const found = new Map<string, { assetClasses: Set<AssetClass>; missing: string | undefined }>();
  for (const provider of FEED_LABELS) {
    for (const assetClass of instruments.assetClass.enumValues) {
      const bound = findBound(feeds, { provider, assetClass });
      if (bound === undefined) continue;
      const known = found.get(bound.exchange) ?? { assetClasses: new Set(), missing: bound.missing };
      known.assetClasses.add(assetClass);
      found.set(bound.exchange, known);
    }
  }
  return [...found].map(([exchange, { assetClasses, missing }]) => ({
    exchange,
    assetClasses: [...assetClasses],
    missing,
  }));
}

/** The exchanges in one line: BINANCE (crypto), MASSIVE (stock; MASSIVE_API_KEY is not set). */
export function describeFeedExchanges(exchanges: readonly FeedExchange[]): string {
  return exchanges.map(({ exchange, assetClasses, missing }) => {
    const lack = missing === undefined ? "" : `; ${missing} is not set`;
    return `${exchange} (${assetClasses.join(", ")}${lack})`;
  }).join(", ");
}

function findBound(
  feeds: Feeds,
  label: Parameters<Feeds>[0],
): { readonly exchange: string; readonly missing: string | undefined } | undefined {
  try {
    const feed = feeds(label);
    return feed === undefined ? undefined : { exchange: feed.exchange, missing: undefined };
  } catch (error) {
    if (error instanceof FeedError) return error.lacking;
    throw error;
  }
}
