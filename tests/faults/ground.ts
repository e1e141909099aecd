import { administer } from "../support/database.ts";
import { startPostgres } from "../support/postgres.ts";
import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";

/** A database with a service's tables and sample candles that nobody else uses. */
export interface Ground {
  readonly databaseUrl: string;
  /** Where the database may crash: ends the server as a crash would, and starts it again. */
  readonly crashDatabase?: () => Promise<void>;
}

/** Runs a scenario on a PostgreSQL of its own, with the tables and the sample candles of a first start. */
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
