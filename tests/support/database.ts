import postgres from "postgres";
import { copyFolder } from "./copy_folder.ts";
import { type DatabaseHandle, openPglite, openPostgres } from "../../db/client.ts";
import { closedAfterTest } from "./left_open.ts";
import { isPrepared, prepare } from "./prepare.ts";

/** The two kinds of database that the service runs on. */
export const DATABASES = ["PGlite", "PostgreSQL"] as const;

/** The PostgreSQL server of the tests: TEST_DATABASE_URL's, or one of our own. */
export async function testServerUrl(): Promise<string> {
  return Deno.env.get("TEST_DATABASE_URL") ?? await prepare("server");
}

/**
 * Creates a database on the tests' PostgreSQL server; `drop` removes it.
 *
 * @param from `empty` has nothing, `migrated` has our tables, `service` also the queue's, the sample candles and some users.
 */
export async function createTestDatabase(
  from: "empty" | "migrated" | "service" = "empty",
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = await testServerUrl();
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const template = from === "empty" ? "template1" : await prepare(`database/${from}`);
  // The usual strategy writes each page to the log, too, which takes five times the processor time.
  await administer(server, `create database ${name} template ${template} strategy file_copy`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const drop = closedAfterTest(async () => void await administer(server, `drop database ${name} with (force)`));
  return { url: url.href, drop };
}

/** Runs one statement on a server. @returns The rows that came back. */
export async function administer(server: string, statement: string): Promise<unknown[]> {
  const client = postgres(server, { max: 1, fetch_types: false, onnotice() {} });
  try {
    return [...await client.unsafe(statement)];
  } finally {
    await client.end();
  }
}

/** A migrated database of the named kind that no other test sees; closing it removes it. */
export async function openTestDatabase(kind: (typeof DATABASES)[number]): Promise<DatabaseHandle> {
  if (kind === "PGlite") return await openTestPglite();
  // Benches run without templates.
  const { url, drop } = await createTestDatabase(isPrepared() ? "migrated" : "empty");
  const handle = await openPostgres(url, 4);
  const close = closedAfterTest(async () => {
    await handle.close();
    await drop();
  });
  return { ...handle, close };
}

async function openTestPglite(): Promise<DatabaseHandle> {
  if (!isPrepared()) return await openPglite("memory://");
  // A copy opens in a tenth of the time that a new database takes.
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  copyFolder(`${await prepare("folder/migrated")}/database`, `${folder}/database`);
  const handle = await openPglite(`${folder}/database`);
  const close = closedAfterTest(async () => {
    await handle.close();
    await Deno.remove(folder, { recursive: true });
  });
  return { ...handle, close };
}

/**
 * Declares a test on PostgreSQL: of what does not depend on the kind of database.
 *
 * @param name What is true, as a sentence.
 */
export function databaseTest(name: string, body: (handle: DatabaseHandle) => Promise<void>): void {
  declare(name, "PostgreSQL", body);
}

/**
 * Declares a test for each kind of database: of opening, locks, claims, notifications, values on their way in and out, and large results.
 *
 * @param name What is true, as a sentence; the kind is added to it.
 */
export function eachDatabaseTest(name: string, body: (handle: DatabaseHandle) => Promise<void>): void {
  for (const kind of DATABASES) declare(`${name} (${kind})`, kind, body);
}

type Step = (name: string, body: () => Promise<void>) => Promise<void>;

/** Declares a test of several steps on PostgreSQL; the steps share the database. */
export function databaseSteps(name: string, body: (handle: DatabaseHandle, step: Step) => Promise<void>): void {
  declare(name, "PostgreSQL", (handle, t) => body(handle, async (...step) => void await t.step(...step)));
}

/** Declares a test of several steps for each kind of database; the steps share it. */
export function eachDatabaseSteps(name: string, body: (handle: DatabaseHandle, step: Step) => Promise<void>): void {
  for (const kind of DATABASES) {
    declare(`${name} (${kind})`, kind, (handle, t) => body(handle, async (...step) => void await t.step(...step)));
  }
}

function declare(
  name: string,
  kind: (typeof DATABASES)[number],
  body: (handle: DatabaseHandle, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test(name, async (t) => {
    const handle = await openTestDatabase(kind);
    try {
      await body(handle, t);
    } finally {
      await handle.close();
    }
  });
}
