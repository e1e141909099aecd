/**
 * A process that ingests: `crash_worker.ts DATABASE RUN_ID [PAGES]`, where DATABASE is an address or a folder. With PAGES it is to be killed:
 * it takes its time for each page, writes a dot for it, and stays where it is when a given number have come.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openPglite, openPostgres } from "../../../db/client.ts";
import { executeRun } from "../../../market/ingestion/ingestion_run.ts";
import { flakyFeed } from "./flaky_feed.ts";

const [database = "", runId = "", pagesMax] = Deno.args;
const handle = database.startsWith("postgres:") ? await openPostgres(database, 2) : await openPglite(database);
const dot = new TextEncoder().encode(".");
const PAGE_MS = 20;
const DAY_MS = 86_400_000;
let pages = 0;
async function dawdle() {
  Deno.stdout.writeSync(dot);
  await pause(++pages < Number(pagesMax) ? PAGE_MS : DAY_MS);
}
const feed = pagesMax === undefined ? flakyFeed() : flakyFeed(0.1, dawdle);
const delay = () => Promise.resolve();
await executeRun(handle.db, runId, { feeds: () => feed, patience: { delay, attemptsMax: 50 } });
await handle.close();
