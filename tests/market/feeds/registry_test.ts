import { expect } from "@std/expect";
import { createFeeds } from "../../../market/feeds/registry.ts";

Deno.test("a label stands for a feed by asset class, and says what it lacks", () => {
  const feeds = createFeeds();
  expect(feeds({ provider: "provider_a", assetClass: "crypto" })?.name).toBe("Binance");
  expect(feeds({ provider: "provider_a", assetClass: "forex" })?.name).toBe("Dukascopy");
  expect(feeds({ provider: "import", assetClass: "stock" })).toBeUndefined();
  const lacking = (provider: "provider_a" | "provider_b") => () => feeds({ provider, assetClass: "stock" });
  expect(lacking("provider_b")).toThrow("Cannot ask provider_b for stock candles: MASSIVE_API_KEY is not set");
  expect(lacking("provider_a")).toThrow("Cannot ask provider_a for stock candles: PROVIDER_A names no feed for stock");
  const rebound = createFeeds({
    providerA: { stock: "massive" },
    providerB: {},
    massiveApiKey: "k",
    massiveRequestsPerMinute: 5,
  });
  expect(rebound({ provider: "provider_a", assetClass: "stock" })?.name).toBe("Massive");
});
