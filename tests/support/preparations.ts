import { TestClient } from "./client.ts";
import { administer } from "./database.ts";
import { copyFolder } from "./copy_folder.ts";

/** Addresses and folders that tests begin from. Each is made when the first test asks for it, so one file of tests starts little. */
export interface Preparations {
  /** Where tests ask, as `URL/NAME`. */
  readonly url: string;
  /** Removes all that was made. */
  remove(): Promise<void>;
}

/** A database of the tests' PostgreSQL. */
type Place = { readonly DATABASE_URL: string };

// More than most tests need.
const USERS = 4;

/**
 * The preparations by name, each with what makes it. `migrated` has the tables, `service` also the queue's and the sample candles, and
 * in PostgreSQL some users, whose cookies are `sessions`.
 */
type Makers = Readonly<Record<string, () => Promise<string>>>;

/**
 * Serves preparations to the processes of tests.
 *
 * @param givenServer A PostgreSQL server to use instead of one of our own.
 */
export async function servePreparations(givenServer: string | undefined): Promise<Preparations> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const id = crypto.randomUUID().slice(0, 8);
  const cookies: string[] = [];
  const fillService = async (place: Place) => void cookies.push(...await runService(place, USERS));
  const removals: (() => Promise<void>)[] = [() => Deno.remove(folder, { recursive: true })];
  const makers: Makers = {
    server: async () => {
      if (givenServer !== undefined) return givenServer;
      const { startPostgres } = await import("./postgres.ts");
      const server = await startPostgres();
      removals.push(() => server.stop());
      return server.url;
    },
    "database/migrated": () => createDatabase("migrated", "template1", migratePostgres),
    "database/service": async () => await createDatabase("service", await make("database/migrated"), fillService),
    sessions: () => make("database/service").then(() => JSON.stringify(cookies)),
    "folder/migrated": () => migratePglite(`${folder}/migrated`),
    "folder/service": async () => {
      copyFolder(await make("folder/migrated"), `${folder}/service`);
      await runService({ DATA_DIR: `${folder}/service` });
      return `${folder}/service`;
    },
    packages: installPackages,
    console: () => build("web:build", "web/dist"),
    interpreter: () => build("python:build", "workers/sandbox/python/dist"),
    browser: async () => {
      const browser = await (await import("./launch_browser.ts")).launchBrowser();
      removals.push(() => browser.close());
      return browser.wsEndpoint();
    },
  };
  const made = new Map<string, Promise<string>>();
  const make = (name: string): Promise<string> => {
    const promise = made.get(name) ?? makers[name]?.() ?? Promise.reject(new Error(`There is no preparation ${name}`));
    made.set(name, promise);
    return promise;
  };

  async function createDatabase(
    kind: "migrated" | "service",
    template: string,
    fill: (place: Place) => Promise<void>,
  ): Promise<string> {
    const server = await make("server");
    const name = `template_${id}_${kind}`;
    await administer(server, `create database ${name} template ${template}`);
    // A server of our own goes with all that it has.
    if (givenServer !== undefined) {
      removals.push(async () => void await administer(server, `drop database if exists ${name} with (force)`));
    }
    await fill({ DATABASE_URL: new URL(`/${name}`, server).href });
    return name;
  }

  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    try {
      return new Response(await make(new URL(request.url).pathname.slice(1)));
    } catch (error) {
      return new Response(error instanceof Error ? error.stack : String(error), { status: 500 });
    }
  });
  const remove = async () => {
    await http.shutdown();
    await Promise.allSettled(made.values());
    for (const each of removals.toReversed()) await each();
  };
  return { url: `http://127.0.0.1:${http.addr.port}`, remove };
}

async function migratePostgres({ DATABASE_URL }: Place): Promise<void> {
  const { openPostgres } = await import("../../db/client.ts");
  await (await openPostgres(DATABASE_URL, 1)).close();
}

/** Makes an embedded database with our tables. @returns The folder that holds it. */
async function migratePglite(folder: string): Promise<string> {
  const { openPglite } = await import("../../db/client.ts");
  await Deno.mkdir(folder, { mode: 0o700 });
  const { connection, close } = await openPglite(`${folder}/database`);
  if (connection.kind !== "pglite") throw new Error("Cannot be but PGlite");
  // No test connects to these databases. Without them, each copy has half as many files.
  await connection.pool.query("update pg_database set datistemplate = false");
  for (const name of ["template0", "template1"]) await connection.pool.query(`drop database ${name}`);
  await close();
  return folder;
}

/** Installs what `task start` and the commands would install at their first start. @returns Where: Deno's cache. */
async function installPackages(): Promise<string> {
  const lock = ["--node-modules-dir=none", "--lock=service.lock", "--frozen"];
  const commands = ["cli/admin.ts", "cli/demo.ts", "cli/hindcast/main.ts"];
  await runDeno(["cache", "--quiet", ...lock, "main.ts", ...commands]);
  return "cache";
}

/** Runs a task that builds a folder. @returns The folder. */
async function build(task: string, folder: string): Promise<string> {
  await runDeno(["task", "--quiet", task]);
  return folder;
}

async function runDeno(args: readonly string[]): Promise<void> {
  const cwd = new URL("../..", import.meta.url);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), { args: [...args], cwd }).output();
  if (!success) throw new Error(`Cannot run deno ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
}

/** Starts the service and ends it again. @returns The cookies of the new users. */
async function runService(place: Readonly<Record<string, string>>, users = 0): Promise<readonly string[]> {
  const { listen } = await import("../../main.ts");
  const { readConfig } = await import("../../server/config.ts");
  const shared = { PORT: "0", WORKERS: "0", BETTER_AUTH_SECRET: "a secret of at least 32 characters" };
  const service = await listen(readConfig({ ...shared, ...place }));
  const clients = Array.from({ length: users }, () => new TestClient(service.url));
  for (const client of clients) await client.signUp();
  await service.close();
  return clients.map(({ cookie }) => cookie);
}
