import { expect } from "@std/expect";
import { createFeeds, FEED_VARIABLES } from "../../../market/feeds/registry.ts";
import { ConfigError, readConfig } from "../../../server/config.ts";

Deno.test("a label names a feed for each asset class, and a missing variable is named", () => {
  const feeds = createFeeds();
  expect(feeds({ provider: "provider_a", assetClass: "crypto" })?.name).toBe("Binance");
  expect(feeds({ provider: "provider_a", assetClass: "forex" })?.name).toBe("Dukascopy");
  expect(feeds({ provider: "import", assetClass: "stock" })).toBeUndefined();
  const lacking = (provider: "provider_a" | "provider_b") => () => feeds({ provider, assetClass: "stock" });
  expect(lacking("provider_b")).toThrow("Cannot ask provider_b for stock candles: MASSIVE_API_KEY is not set");
  expect(lacking("provider_a")).toThrow("Cannot ask provider_a for stock candles: PROVIDER_A names no feed for stock");
  const rebound = createFeeds({ PROVIDER_A: "stock=massive", MASSIVE_API_KEY: "k" });
  expect(rebound({ provider: "provider_a", assetClass: "stock" })?.name).toBe("Massive");
});

Deno.test("the configuration has every variable of the feeds and checks it at the start", () => {
  expect(Object.keys(FEED_VARIABLES)).toEqual([
    "PROVIDER_A",
    "PROVIDER_B",
    "BINANCE_BASE_URL",
    "DUKASCOPY_BASE_URL",
    "MASSIVE_API_KEY",
    "MASSIVE_REQUESTS_PER_MINUTE",
    "MASSIVE_BASE_URL",
  ]);
  const refusal = (environment: Record<string, string>) => {
    try {
      readConfig(environment);
    } catch (error) {
      return error instanceof ConfigError ? error.message : error;
    }
  };
  const feeds = "the feeds are binance (crypto), dukascopy (forex), massive (crypto, forex, stock)";
  const must = `must be pairs such as crypto=binance, separated by commas; ${feeds}`;
  for (const value of ["crypto=kraken", "stock=binance", "bonds=massive", "massive"]) {
    expect(refusal({ PROVIDER_A: value })).toBe(`Cannot start: PROVIDER_A ${must}, not "${value}"`);
  }
  const least = "Cannot start: MASSIVE_REQUESTS_PER_MINUTE must be at least 1";
  expect(refusal({ MASSIVE_REQUESTS_PER_MINUTE: "0" })).toBe(`${least}, not "0"`);
  expect(refusal({ BINANCE_BASE_URL: "ftp://x" })).toContain("BINANCE_BASE_URL must be an address such as https://");
});

Deno.test("the configuration hands the variables on, and an empty one is not set", () => {
  const { feeds } = readConfig({ PROVIDER_A: "", MASSIVE_API_KEY: "k", UNRELATED: "x" });
  expect(createFeeds(feeds)({ provider: "provider_b", assetClass: "stock" })?.name).toBe("Massive");
  expect(createFeeds(feeds)({ provider: "provider_a", assetClass: "crypto" })?.name).toBe("Binance");
  expect(feeds).not.toHaveProperty("UNRELATED");
});
