import { z } from "zod";
import type { AssetClass } from "../../db/instruments.ts";
import { BINANCE } from "./binance.ts";
import { DUKASCOPY } from "./dukascopy.ts";
import { type FeedDefinition, FeedError, type Feeds, type FeedSettings, type FeedVariable } from "./feed.ts";
import { MASSIVE } from "./massive.ts";
import { SAMPLE_FEED } from "./sample.ts";

/** Every feed of a provider. To add one, write its file and list its definition here. */
const FEEDS: readonly FeedDefinition[] = [BINANCE, DUKASCOPY, MASSIVE];

const choices = FEEDS.map(({ name, assetClasses }) => `${name} (${assetClasses.join(", ")})`).join(", ");

const binding = z.string().superRefine((text, context) => {
  if (parseBinding(text) !== null) return;
  context.addIssue(`must be pairs such as crypto=binance, separated by commas; the feeds are ${choices}`);
});

/** The environment variables of the feeds and of the labels that name them. */
export const FEED_VARIABLES: Readonly<Record<string, FeedVariable>> = {
  PROVIDER_A: {
    schema: binding.default("crypto=binance,forex=dukascopy"),
    description: "The feed of each asset class under the label `provider_a`.",
  },
  PROVIDER_B: {
    schema: binding.default("crypto=massive,forex=massive,stock=massive"),
    description: "The same for `provider_b`.",
  },
  ...Object.fromEntries(FEEDS.flatMap(({ variables }) => Object.entries(variables))),
};

const settingsSchema = z.object(
  Object.fromEntries(Object.entries(FEED_VARIABLES).map(([name, { schema }]) => [name, schema])),
);

/**
 * Creates every feed that the settings allow, without a request to a provider.
 *
 * @param settings The values of FEED_VARIABLES, by variable; default: none is set.
 * @throws {z.ZodError} For a value that FEED_VARIABLES refuses.
 */
export function createFeeds(settings: FeedSettings = {}): Feeds {
  const complete = settingsSchema.parse(settings);
  const created = new Map(FEEDS.map(({ name, create }) => [name, create(complete)]));
  const bindings = {
    provider_a: parseBinding(complete.PROVIDER_A ?? ""),
    provider_b: parseBinding(complete.PROVIDER_B ?? ""),
  };
  return ({ provider, assetClass }) => {
    if (provider === "import") return undefined;
    if (provider === "sample") return SAMPLE_FEED;
    const feed = created.get(bindings[provider]?.get(assetClass) ?? "");
    if (feed !== undefined && "fetch" in feed) return feed;
    const reason = feed === undefined
      ? `${provider.toUpperCase()} names no feed for ${assetClass}`
      : `${feed.missing} is not set; set it, or import candles with POST /api/admin/ingestion/import`;
    throw new FeedError("not_configured", `Cannot ask ${provider} for ${assetClass} candles: ${reason}`, {
      lacking: feed,
    });
  };
}

/** The feed's name for each asset class; null where a pair names no feed or an asset class that its feed does not have. */
function parseBinding(text: string): ReadonlyMap<AssetClass, string> | null {
  const names = new Map<AssetClass, string>();
  for (const pair of text.split(",").map((part) => part.trim()).filter((part) => part !== "")) {
    const [assetClass, name] = pair.split("=");
    const feed = FEEDS.find((each) => each.name === name);
    const found = feed?.assetClasses.find((each) => each === assetClass);
    if (feed === undefined || found === undefined) return null;
    names.set(found, feed.name);
  }
  return names;
}
