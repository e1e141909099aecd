import { administer } from "../support/database.ts";
import { type ObjectServer, startObjectServer } from "../support/object_server.ts";
import { startPostgres } from "../support/postgres.ts";
import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";

/** A database of a scenario's own, with a service's tables and sample candles. */
export interface Ground {
  readonly databaseUrl: string;
  /** Ends the server as a crash would, and starts it again; undefined if the scenario does not own the server. */
  readonly crashDatabase?: () => Promise<void>;
  /** The bucket of new candles and results; undefined where the database keeps them. */
  readonly objects?: ObjectServer;
}

/** Like onPostgres(), with new candles and results in a bucket of the scenario's own. */
export async function onBucket<Outcome>(run: (ground: Ground) => Promise<Outcome>): Promise<Outcome> {
  const objects = await startObjectServer();
  try {
    return await onPostgres((ground) => run({ ...ground, objects }));
  } finally {
    await objects.close();
  }
}

/** Runs a scenario on its own PostgreSQL server, with the tables and sample candles of a first start. */
export async function onPostgres<Outcome>(run: (ground: Ground) => Promise<Outcome>): Promise<Outcome> {
  const server = await startPostgres(true);
  try {
    await administer(server.url, "create database faults");
    const databaseUrl = new URL("/faults", server.url).href;
    const shared = { PORT: "0", WORKERS: "0", BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
    await (await listen(readConfig({ ...shared, DATABASE_URL: databaseUrl }))).close();
    return await run({ databaseUrl, crashDatabase: () => server.crash() });
  } finally {
    await server.stop();
  }
}
