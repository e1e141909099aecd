import { resolve } from "node:path";
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { controlSocketPath, DataDirectoryInUse, holdDataDirectory } from "../db/embedded/data_directory.ts";
import { grantAdmin } from "../db/users.ts";
import { type Config, readConfig } from "../server/config.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Gives a user the role admin.

  deno task admin EMAIL      or hindcast admin EMAIL

The user with EMAIL must have signed up. With DATABASE_URL, the command writes to that PostgreSQL. Without, it asks the
service that runs on DATA_DIR, or opens the database there when none runs.`;

/** `deno task admin EMAIL`. */
async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) return say(USAGE);
  const [email, ...rest] = args;
  if (email === undefined || rest.length > 0) return stop(USAGE);
  const config = readConfig();
  const granted = config.databaseUrl === undefined
    ? await grantEmbedded(config, email)
    : await grantIn(await openPostgres(config.databaseUrl, 1), email);
  if (granted) return say(`${email} is an admin now.`);
  stop(`Cannot make ${email} an admin: nobody has signed up with this e-mail.`);
}

async function grantIn(handle: DatabaseHandle, email: string): Promise<boolean> {
  try {
    return (await grantAdmin(handle.db, email)) !== undefined;
  } finally {
    await handle.close();
  }
}

/** Asks the service that holds the data directory, or opens its database when none runs. */
async function grantEmbedded(config: Config, email: string): Promise<boolean> {
  let directory;
  // A new database would have no users.
  if (!await Deno.stat(config.dataDir).catch(() => null)) {
    throw new Error(`Cannot make ${email} an admin: there is no DATA_DIR ${resolve(config.dataDir)}`);
  }
  try {
    directory = await holdDataDirectory(config.dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return await askService(config.dataDir, email);
    throw error;
  }
  try {
    return await grantIn(await openPglite(directory.databasePath), email);
  } finally {
    directory.release();
  }
}

async function askService(dataDir: string, email: string): Promise<boolean> {
  const client = Deno.createHttpClient({ proxy: { transport: "unix", path: controlSocketPath(dataDir) } });
  try {
    const url = `http://service/admin/${encodeURIComponent(email)}`;
    const response = await fetch(url, { method: "POST", client });
    await response.body?.cancel();
    if (response.status === 204) return true;
    if (response.status === 404) return false;
    throw new Error(`Cannot make ${email} an admin: the service answered ${response.status}`);
  } finally {
    client.close();
  }
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
