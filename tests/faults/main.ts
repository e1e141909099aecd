/**
 * `deno task faults [--seed N] [--minutes M]`: scenarios of faults on a PostgreSQL of its own, one seed after another, for as long.
 *
 * The seed of a scenario that fails is printed; `--seed` repeats its choices (not the machine's timing).
 */
import { parseArgs } from "node:util";
import { administer } from "../support/database.ts";
import { startPostgres } from "../support/postgres.ts";
import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";
import { type Fault, runScenario } from "./scenario.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: { seed: { type: "string", default: "1" }, minutes: { type: "string", default: "1" } },
});
const end = performance.now() + Number(values.minutes) * 60_000;
const server = await startPostgres(true);
let code = 0;
try {
  for (let seed = Number(values.seed); code === 0 && performance.now() < end; seed++) code = await runSeed(seed);
} finally {
  await server.stop();
}
Deno.exit(code);

async function runSeed(seed: number): Promise<number> {
  const url = new URL(server.url);
  url.pathname = `/faults_${seed}`;
  await administer(server.url, `create database faults_${seed}`);
  // Makes the tables and the sample candles.
  const secret = "a secret of at least 32 characters";
  const shared = { PORT: "0", WORKERS: "0", BETTER_AUTH_SECRET: secret };
  await (await listen(readConfig({ ...shared, DATABASE_URL: url.href }))).close();
  const faults: Fault[] = ["worker killed", "api killed", "connections terminated", "database crashed"];
  try {
    const outcome = await runScenario({
      databaseUrl: url.href,
      seed,
      faults,
      faultsMax: 8,
      backtests: 100,
      crashDatabase: () => server.crash(),
    });
    write(`seed ${seed}: ${JSON.stringify(outcome)}\n`);
    return 0;
  } catch (error) {
    write(`seed ${seed}: ${error instanceof Error ? error.stack : error}\n`);
    return 1;
  } finally {
    await administer(server.url, `drop database faults_${seed} with (force)`);
  }
}

function write(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}
