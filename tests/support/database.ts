import postgres from "postgres";
import { type DatabaseHandle, openPglite, openPostgres } from "../../db/client.ts";

/** The two places where everything that touches the database must work. */
export const DATABASES = ["PGlite", "PostgreSQL"] as const;

/** The server that `deno task test` started, or the one that the caller named. */
export function testServerUrl(): string {
  return prepared("TEST_DATABASE_URL");
}

/** What `deno task test` left in the environment for its tests. */
export function prepared(name: "TEST_DATABASE_URL" | "TEST_TEMPLATE_DATABASE" | "TEST_TEMPLATE_DATA_DIR"): string {
  const value = Deno.env.get(name);
  if (value === undefined) throw new Error(`${name} is not set: run the tests with \`deno task test\``);
  return value;
}

/**
 * A new database on the tests' PostgreSQL server, dropped again by `drop`.
 *
 * @param from `service` has every table and the sample candles, as after a first start; `empty` has nothing.
 */
export async function createTestDatabase(
  from: "empty" | "service" = "empty",
): Promise<{ url: string; drop: () => Promise<void> }> {
  const server = testServerUrl();
  const name = `test_${crypto.randomUUID().replaceAll("-", "")}`;
  const template = from === "empty" ? "template1" : prepared("TEST_TEMPLATE_DATABASE");
  await administer(server, `create database ${name} template ${template}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: async () => void await administer(server, `drop database ${name} with (force)`) };
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
  if (kind === "PGlite") return await openPglite("memory://");
  const { url, drop } = await createTestDatabase();
  const handle = await openPostgres(url, 4);
  const close = async () => {
    await handle.close();
    await drop();
  };
  return { ...handle, close };
}

/**
 * Declares one test for each kind of database.
 *
 * @param name What is true, as a sentence; the kind is added to it.
 */
export function databaseTest(name: string, body: (handle: DatabaseHandle) => Promise<void>): void {
  for (const kind of DATABASES) {
    Deno.test(`${name} (${kind})`, async () => {
      const handle = await openTestDatabase(kind);
      try {
        await body(handle);
      } finally {
        await handle.close();
      }
    });
  }
}
