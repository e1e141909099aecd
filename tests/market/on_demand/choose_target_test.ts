import { expect } from "@std/expect";
import { ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import { chooseTarget } from "../../../market/on_demand/choose_target.ts";
import { openTestDatabase } from "../../support/database.ts";
import { flakyFeed } from "../ingestion/flaky_feed.ts";

Deno.test("an instrument that another request creates during the search answers both", async () => {
  const { db, close } = await openTestDatabase("PGlite");
  const row = { symbol: "NEW", exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  let adding: Promise<Instrument> | undefined;
  const feeds = () => {
    // Asked for after the first look; what is written now is there at the second.
    adding ??= ensureInstrument(db, row);
    return flakyFeed(0);
  };
  const target = await chooseTarget(db, feeds, { symbol: "NEW", assetClass: "crypto" });
  expect(target).toEqual(await adding);
  await close();
});
