import { resolve } from "node:path";
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { controlSocketPath, DataDirectoryInUse, holdDataDirectory } from "../db/embedded/data_directory.ts";
import { insertInvitation } from "../db/invitations.ts";
import { grantAdmin } from "../db/users.ts";
import { type Config, readConfig } from "../server/config.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Gives a user the role admin, or makes an invitation.

  deno task admin EMAIL             or hindcast admin EMAIL
  deno task admin invite [EMAIL]    or hindcast admin invite [EMAIL]

The user with EMAIL must have signed up. An invitation is a link to sign up with, where the service runs with
SIGN_UP=invite: it counts once, for a week, and for EMAIL alone where there is one. With DATABASE_URL, the command
writes to that PostgreSQL. Without, it asks the service that runs on DATA_DIR, or opens the database there when none
runs.`;

/** An act of this command, in a database or through the service that has it open. */
interface Act<Result> {
  /** The words for it after "Cannot". */
  readonly words: string;
  readonly path: string;
  within(handle: DatabaseHandle): Promise<Result>;
  read(answer: Response): Promise<Result> | Result;
}

/** `deno task admin EMAIL`. */
async function main(args: readonly string[]): Promise<void> {
  if (args.includes("--help") || args.includes("-h")) return say(USAGE);
  const [first, second, ...rest] = args;
  if (first === undefined || rest.length > 0) return stop(USAGE);
  const config = readConfig();
  if (first === "invite") return await makeInvitation(config, second ?? "");
  if (second !== undefined) return stop(USAGE);
  const granted = await perform(config, {
    words: `make ${first} an admin`,
    path: `admin/${encodeURIComponent(first)}`,
    within: async ({ db }) => (await grantAdmin(db, first)) !== undefined,
    read: ({ status }) => status !== 404,
  });
  if (granted) return say(`${first} is an admin now.`);
  stop(`Cannot make ${first} an admin: nobody has signed up with this e-mail.`);
}

async function makeInvitation(config: Config, email: string): Promise<void> {
  if (config.signUp !== "invite") {
    return stop(
      `Cannot invite: SIGN_UP is ${config.signUp} here, not invite; set it for the service and this command.`,
    );
  }
  if (email !== "" && !/^\S+@\S+$/.test(email)) return stop(`Cannot invite "${email}": it is no e-mail address.`);
  const token = await perform(config, {
    words: "invite",
    path: `invitations/${encodeURIComponent(email)}`,
    within: async ({ db }) => (await insertInvitation(db, { email })).token,
    read: (answer) => answer.text(),
  });
  say(`${config.baseUrl ?? `http://127.0.0.1:${config.port}`}/sign-up#${token}`);
}

async function perform<Result>(config: Config, act: Act<Result>): Promise<Result> {
  if (config.databaseUrl !== undefined) return await performIn(await openPostgres(config.databaseUrl, 1), act);
  // A new database would have no users.
  if (!await Deno.stat(config.dataDir).catch(() => null)) {
    throw new Error(`Cannot ${act.words}: there is no DATA_DIR ${resolve(config.dataDir)}`);
  }
  let directory;
  try {
    directory = await holdDataDirectory(config.dataDir);
  } catch (error) {
    if (error instanceof DataDirectoryInUse) return await askService(config.dataDir, act);
    throw error;
  }
  try {
    return await performIn(await openPglite(directory.databasePath), act);
  } finally {
    directory.release();
  }
}

async function performIn<Result>(handle: DatabaseHandle, act: Act<Result>): Promise<Result> {
  try {
    return await act.within(handle);
  } finally {
    await handle.close();
  }
}

/** Asks the service that holds the data directory. */
async function askService<Result>(dataDir: string, { words, path, read }: Act<Result>): Promise<Result> {
  const client = Deno.createHttpClient({ proxy: { transport: "unix", path: controlSocketPath(dataDir) } });
  try {
    const response = await fetch(`http://service/${path}`, { method: "POST", client });
    if (!response.ok && response.status !== 404) {
      throw new Error(`Cannot ${words}: the service answered ${response.status}`);
    }
    const result = await read(response);
    if (!response.bodyUsed) await response.body?.cancel();
    return result;
  } finally {
    client.close();
  }
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
