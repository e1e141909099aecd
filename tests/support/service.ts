import { listen } from "../../main.ts";
import { readConfig } from "../../server/config.ts";
import { createTestDatabase, type DATABASES } from "./database.ts";
import { closedAfterTest } from "./left_open.ts";
import { prepare } from "./prepare.ts";
import { copyFolder } from "./copy_folder.ts";
import { TestClient } from "./client.ts";

export const INGESTION_SECRET = "a secret for ingestion tests";

/** A whole service on a socket of its own, with its own data, for one test file. */
export interface TestService {
  readonly url: string;
  /** Empty on PGlite. */
  readonly databaseUrl: string;
  /** A client that nobody has signed in. */
  client(): TestClient;
  /** A client of another user, whose session is new. */
  user(): Promise<TestClient>;
  close(): Promise<void>;
}

/**
 * Starts the real service, as main.ts composes it.
 *
 * @param environment What differs from a fresh machine's environment.
 */
export async function startTestService(
  kind: (typeof DATABASES)[number] = "PostgreSQL",
  environment: Readonly<Record<string, string>> = {},
): Promise<TestService> {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const database = kind === "PostgreSQL" ? await createTestDatabase("service") : null;
  if (database === null) copyFolder(`${await prepare("folder/service")}/database`, `${folder}/database`);
  const service = await listen(readConfig({
    PORT: "0",
    DATA_DIR: folder,
    WORKERS: "1",
    LOG_LEVEL: "error",
    INGESTION_ADMIN_SECRET: INGESTION_SECRET,
    ...(database === null
      ? {}
      : { DATABASE_URL: database.url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" }),
    ...environment,
  }));
  const { url } = service;
  // A sign-up takes more processor time than the rest of a small test.
  const isUsual = !["BETTER_AUTH_SECRET", "BASE_URL"].some((name) => name in environment);
  const cookies: string[] = database !== null && isUsual ? JSON.parse(await prepare("sessions")) : [];
  const user = async () => {
    const client = new TestClient(url);
    const cookie = cookies.shift();
    if (cookie === undefined) await client.signUp();
    else client.cookie = cookie;
    return client;
  };
  const close = closedAfterTest(async () => {
    await service.close();
    await database?.drop();
    await Deno.remove(folder, { recursive: true });
  });
  return { url, databaseUrl: database?.url ?? "", client: () => new TestClient(url), user, close };
}
