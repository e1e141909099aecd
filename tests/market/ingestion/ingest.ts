import type { Db } from "../../../db/client.ts";
import { findRun, listEvents } from "../../../db/ingestion.ts";
import { ensureInstrument, type Instrument } from "../../../db/instruments.ts";
import type { Feed } from "../../../market/feeds/feed.ts";
import { createRun, executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { dailyFeed, type Script } from "./daily_feed.ts";

export const day = (date: string) => Date.parse(`${date}T00:00:00Z`);
export const now = day("2024-04-01") + 12 * 3_600_000;

export async function makeInstrument(db: Db, symbol: string, more: Partial<Instrument> = {}): Promise<Instrument> {
  const row = { symbol, exchange: "TEST", assetClass: "crypto", provider: "provider_a" } as const;
  return await ensureInstrument(db, { ...row, timeframe: "1d", backfillFrom: "2024-02-02", ...more });
}

/** Runs for one instrument or for all, and returns the run with its events. */
export async function ingest(db: Db, feed: Feed, symbol?: string) {
  const instruments = symbol === undefined ? undefined : [{ symbol, exchange: "TEST" }];
  const { run } = await db.transaction((tx) => createRun(tx, { trigger: "manual", instruments }));
  const delay = () => Promise.resolve();
  await executeRun(db, run.id, {
    feeds: ({ provider }) => provider === "import" ? undefined : feed,
    now,
    patience: { delay },
  });
  const events = (await listEvents(db, { runId: run.id, limit: 200 })).reverse();
  return { run: await findRun(db, run.id), events: events.map(({ type, message }) => [type, message]) };
}

/** The scripted feed; `happens` runs before its third part. */
export function interrupted(script: Script, happens: () => Promise<unknown>): Feed {
  const feed = dailyFeed(script);
  return {
    ...feed,
    async *fetch(request) {
      let parts = 0;
      for await (const part of feed.fetch(request)) {
        if (parts++ === 2) await happens();
        yield part;
      }
    },
  };
}
