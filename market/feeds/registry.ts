import type { AssetClass } from "../../db/instruments.ts";
import { type Feed, FeedError, type Feeds } from "./feed.ts";
import { BinanceFeed } from "./binance.ts";
import { DukascopyFeed } from "./dukascopy.ts";
import { MassiveFeed } from "./massive.ts";
import type { ProviderOptions } from "./provider_client.ts";
import { SAMPLE_FEED } from "./sample.ts";

export type FeedName = "binance" | "dukascopy" | "massive";
/** Which feed a provider's label stands for, by asset class. */
export type Binding = Readonly<Partial<Record<AssetClass, FeedName>>>;

/** What is configured about providers. */
export interface ProvidersConfig {
  readonly providerA: Binding;
  readonly providerB: Binding;
  readonly massiveApiKey?: string | undefined;
  /** What the key's plan allows. */
  readonly massiveRequestsPerMinute: number;
  /** Where the provider is, when not at its own address. */
  readonly binanceBaseUrl?: string | undefined;
  readonly dukascopyBaseUrl?: string | undefined;
  readonly massiveBaseUrl?: string | undefined;
}

/** As it is when nothing is configured: a keyless pair, and one provider for all that needs a key. */
export const DEFAULT_PROVIDERS: ProvidersConfig = {
  providerA: { crypto: "binance", forex: "dukascopy" },
  providerB: { crypto: "massive", forex: "massive", stock: "massive" },
  massiveRequestsPerMinute: 5,
};

/** Sets up the feeds; nothing is asked of them yet. */
export function createFeeds(config: ProvidersConfig = DEFAULT_PROVIDERS): Feeds {
  const binance = new BinanceFeed(at(config.binanceBaseUrl));
  const dukascopy = new DukascopyFeed(at(config.dukascopyBaseUrl));
  const { massiveApiKey: apiKey, massiveRequestsPerMinute: requestsPerMinute } = config;
  const massive = apiKey === undefined
    ? undefined
    : new MassiveFeed({ ...at(config.massiveBaseUrl), apiKey, requestsPerMinute });
  const feeds: Record<FeedName, Feed | undefined> = { binance, dukascopy, massive };
  return ({ provider, assetClass }) => {
    if (provider === "import") return undefined;
    if (provider === "sample") return SAMPLE_FEED;
    const name = (provider === "provider_a" ? config.providerA : config.providerB)[assetClass];
    const feed = name && feeds[name];
    if (feed !== undefined) return feed;
    const variable = name === "massive" ? "MASSIVE_API_KEY" : provider.toUpperCase();
    const why = name === "massive" ? "is not set" : `names no feed for ${assetClass}`;
    throw new FeedError("not_configured", `Cannot ask ${provider} for ${assetClass} candles: ${variable} ${why}`);
  };
}

function at(baseUrl: string | undefined): Partial<ProviderOptions> {
  return baseUrl === undefined ? {} : { baseUrl };
}
