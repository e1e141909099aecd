import { resolve } from "node:path";
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { controlSocketPath, DataDirectoryInUse, holdDataDirectory } from "../db/embedded/data_directory.ts";
import { insertInvitation } from "../db/invitations.ts";
import { QUOTA_NAMES, type Quotas } from "../db/schema.ts";
import { changeQuotasOf, grantAdmin } from "../db/users.ts";
import { type Config, readConfig } from "../server/config.ts";
import { say, stop } from "./terminal.ts";

const USAGE = `Gives a user the role admin or limits of their own, or makes an invitation.

  deno task admin EMAIL                       or hindcast admin EMAIL
  deno task admin invite [EMAIL]              or hindcast admin invite [EMAIL]
  deno task admin quotas EMAIL [NAME=VALUE …] or hindcast admin quotas EMAIL [NAME=VALUE …]

The user with EMAIL must have signed up. Their limits are ${Object.keys(QUOTA_NAMES).join(", ")};
VALUE is a number from 1, or "default" for the service's. Without any, those of their own are printed. An invitation is a link to sign up with, where the service runs with
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
  if (first === undefined || (rest.length > 0 && first !== "quotas")) return stop(USAGE);
  const config = readConfig();
  if (first === "quotas") return await setQuotas(config, args.slice(1));
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

async function setQuotas(config: Config, [email, ...assignments]: readonly string[]): Promise<void> {
  if (email === undefined) return stop(USAGE);
  const changes: Record<string, number | null> = {};
  for (const assignment of assignments) {
    const fault = readAssignment(assignment, changes);
    if (fault !== undefined) return stop(`Cannot change the limits of ${email}: ${fault}.`);
  }
  const own = await perform<Partial<Quotas> | null | undefined>(config, {
    words: `change the limits of ${email}`,
    path: `quotas/${encodeURIComponent(email)}?${new URLSearchParams({ changes: JSON.stringify(changes) })}`,
    within: ({ db }) => changeQuotasOf(db, email, changes),
    read: async (answer) => answer.status === 404 ? undefined : await answer.json(),
  });
  if (own === undefined) return stop(`Cannot find ${email}: nobody has signed up with this e-mail.`);
  for (const [name, key] of Object.entries(QUOTA_NAMES)) say(`${name}: ${own?.[key] ?? "default"}`);
}

/** Adds a `NAME=VALUE` to the changes. @returns Its fault; undefined where it has none. */
function readAssignment(text: string, changes: Record<string, number | null>): string | undefined {
  const [, name = "", value = ""] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  const found = Object.entries(QUOTA_NAMES).find(([known]) => known === name);
  if (found === undefined) return `"${text}" is not one of ${Object.keys(QUOTA_NAMES).join(", ")}, "=" and a value`;
  const limit = value === "default" ? null : Number(value);
  if (limit !== null && !(/^\d+$/.test(value) && limit >= 1 && Number.isSafeInteger(limit))) {
    return `${name} must be a whole number from 1, or "default", not "${value}"`;
  }
  changes[found[1]] = limit;
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
