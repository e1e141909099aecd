import { expect } from "@std/expect";
import { ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import { instruments } from "../../../db/schema.ts";
import { chooseTargets, completeFirst } from "../../../market/on_demand/choose_target.ts";
import { FeedError } from "../../../market/feeds/feed.ts";
import { createFeeds } from "../../../market/feeds/registry.ts";
import type { Target } from "../../../market/ingestion/fetch_series.ts";
import { openTestDatabase } from "../../support/database.ts";
import { flakyFeed } from "../ingestion/flaky_feed.ts";

Deno.test("an instrument that another request creates during the search answers both", async () => {
  const { db, close } = await openTestDatabase("PGlite");
  const row = { symbol: "NEW", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  const insert = db.insert(instruments).values({ ...row, id: crypto.randomUUID() }).returning().prepare("");
  let adding: Promise<Instrument[]> | undefined;
  const feeds = () => {
    // Asked for after the first look; what is sent now is there at the second.
    adding ??= insert.execute();
    return flakyFeed(0);
  };
  const [target] = await chooseTargets(db, feeds, { symbol: "NEW", assetClass: "crypto" });
  expect([target]).toEqual(await adding);
  await close();
});

Deno.test("without an asset class the feeds are asked in order until one knows the symbol", async () => {
  const { db, close } = await openTestDatabase("PGlite");
  const targets = await chooseTargets(db, createFeeds(), { symbol: "EURUSD" });
  const asked: string[] = [];
  const complete = (known: string) => async (target: Target) => {
    asked.push(target.exchange);
    if (target.exchange !== known) throw new FeedError("unknown_symbol", `Cannot find it at ${target.exchange}`);
    return await ensureInstrument(db, target);
  };
  expect(await completeFirst(targets, complete("DUKASCOPY"))).toMatchObject({ assetClass: "forex" });
  expect(asked.at(-1)).toBe("DUKASCOPY");
  await expect(completeFirst(targets, complete("NOWHERE"))).rejects.toMatchObject({ fault: "unknown_symbol" });
  await close();
});

Deno.test("spellings of one pair lead to one instrument, and a stock's case matters", async () => {
  const { db, close } = await openTestDatabase("PGlite");
  const choose = async (symbol: string, assetClass: "crypto" | "forex" | "stock") => {
    const feeds = createFeeds({ MASSIVE_API_KEY: "key" });
    return (await chooseTargets(db, feeds, { symbol, assetClass }))[0].symbol;
  };
  for (const spelling of ["B-TCUSDT", "--BTCUSDT", "btc/usdt", "BTC_USDT"]) {
    expect(await choose(spelling, "crypto")).toBe("BTCUSDT");
  }
  expect(await choose("eur/usd", "forex")).toBe("EURUSD");
  expect(await choose("BACpL", "stock")).toBe("BACpL");
  const held = await ensureInstrument(db, {
    symbol: "ETHUSDT",
    exchange: "MINE",
    assetClass: "crypto",
    provider: "import",
  });
  expect(await chooseTargets(db, createFeeds(), { symbol: "eth-usdt" })).toEqual([held]);
  await close();
});
