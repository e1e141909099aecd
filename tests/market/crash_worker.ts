/** A process that ingests and is killed: `crash_worker.ts DATABASE RUN_ID PAGE_MS`, where DATABASE is an address or a folder. */
import { openPglite, openPostgres } from "../../db/client.ts";
import { executeRun } from "../../market/ingestion.ts";
import { flakyFeed } from "./flaky_feed.ts";

const [database = "", runId = "", pageMs = "0"] = Deno.args;
const handle = database.startsWith("postgres:") ? await openPostgres(database, 2) : await openPglite(database);
await Deno.stdout.write(new TextEncoder().encode("begins\n"));
const feed = flakyFeed(0.1, Number(pageMs));
const delay = () => Promise.resolve();
await executeRun(handle.db, runId, { feeds: () => feed, patience: { delay, attemptsMax: 50 } });
await handle.close();
