import { resolve } from "node:path";
import { type DatabaseHandle, openPglite, openPostgres } from "../db/client.ts";
import { controlSocketPath, DataDirectoryInUse, holdDataDirectory } from "../db/embedded/data_directory.ts";
import { insertInvitation } from "../db/invitations.ts";
import { moveBytes, type Moved, movedSchema } from "../db/move_bytes.ts";
import { openObjectStore } from "../db/open_object_store.ts";
import { QUOTA_NAMES, type Quotas } from "../db/schema.ts";
import { changeQuotasOf, grantAdmin } from "../db/users.ts";
import { type Config, readConfig } from "../server/config.ts";
import { readBucket } from "../server/object_settings.ts";
import { say, stop, warn } from "./terminal.ts";

const PROGRESS_MS = 1000;

const USAGE = `Gives a user the role admin or limits of their own, makes an invitation, or moves candles and results.

  deno task admin EMAIL                       or hindcast admin EMAIL
  deno task admin invite [EMAIL]              or hindcast admin invite [EMAIL]
  deno task admin quotas EMAIL [NAME=VALUE …] or hindcast admin quotas EMAIL [NAME=VALUE …]
  deno task admin move-bytes                  or hindcast admin move-bytes

The user with EMAIL must have signed up. Their limits are ${Object.keys(QUOTA_NAMES).join(", ")};
VALUE is a number from 1, or "default" for the service's. Without any, those of their own are printed. An invitation is a link to sign up with, where the service runs with
SIGN_UP=invite: it counts once, for a week, and for EMAIL alone where there is one. move-bytes brings the bytes of stored
candles and results to where new ones go by the service's settings S3_…, which this command needs, too: into the bucket,
or with S3_NEW_BYTES=database out of it. With DATABASE_URL, the command writes to that PostgreSQL. Without, it asks the
service that runs on DATA_DIR, or opens the database there when none runs.`;

/** An act of this command, in a database or through the service that has it open. */
interface Act<Result> {
  /** The words for it after "Cannot". */
  readonly words: string;
  within(handle: DatabaseHandle): Promise<Result>;
  through(ask: (path: string) => Promise<Response>): Promise<Result>;
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
  if (first === "move-bytes") return await moveAllBytes(config);
  const granted = await perform(config, {
    words: `make ${first} an admin`,
    within: async ({ db }) => (await grantAdmin(db, first)) !== undefined,
    through: async (ask) => (await ask(`admin/${encodeURIComponent(first)}`)).status !== 404,
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
    within: async ({ db }) => (await insertInvitation(db, { email })).token,
    through: async (ask) => (await ask(`invitations/${encodeURIComponent(email)}`)).text(),
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
    within: ({ db }) => changeQuotasOf(db, email, changes),
    through: async (ask) => {
      const query = new URLSearchParams({ changes: JSON.stringify(changes) });
      const answer = await ask(`quotas/${encodeURIComponent(email)}?${query}`);
      return answer.status === 404 ? undefined : await answer.json();
    },
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

/** Moves all bytes to where new ones go, and begins again until none is left. */
async function moveAllBytes(config: Config): Promise<void> {
  const bucket = readBucket(config.objects);
  const left = await perform(config, {
    words: "move bytes",
    within: async ({ db }) => {
      await openObjectStore(db, bucket);
      return await moveInSteps((after) => moveBytes(db, after));
    },
    through: (ask) =>
      moveInSteps(async (after) => {
        const answer = await ask(`bytes/?${new URLSearchParams({ after: JSON.stringify(after) })}`);
        return answer.status === 404 ? null : movedSchema.parse(await answer.json());
      }),
  });
  if (left === null) return stop("Cannot move bytes: S3_ENDPOINT is not set, and the database has all of them.");
  if (left === 0) return;
  stop(
    `Cannot move the bytes of ${left} rows: their objects are lost, or a process with other settings writes such rows.`,
  );
}

/** @returns How many rows are left; null where there is no bucket. */
async function moveInSteps(move: (after: Moved["next"]) => Promise<Moved | null>): Promise<number | null> {
  let [before, rows, bytes, saidAt] = [Infinity, 0, 0, -Infinity];
  for (let after: Moved["next"] = null;;) {
    const step = await move(after);
    if (step === null) return null;
    const { to, left, lost, next } = step;
    [rows, bytes] = [rows + step.rows, bytes + step.bytes];
    for (const object of lost) warn(`Cannot move the bytes of a row: ${object}.`);
    if (left !== null && after === null && before === Infinity) say(`${left} rows are to go to the ${to}.`);
    const isOver = left === 0 || (left ?? 0) >= before;
    if (isOver || performance.now() - saidAt > PROGRESS_MS) {
      say(`${rows} rows with ${(bytes / 1e6).toFixed(1)} MB have been moved.`);
      saidAt = performance.now();
    }
    if (isOver) return left;
    before = left ?? before;
    after = next;
  }
}

async function perform<Result>(config: Config, act: Act<Result>): Promise<Result> {
  if (config.databaseUrl !== undefined) return await performIn(await openPostgres(config.databaseUrl, 1), act);
  // A new database would have no users.
  if (!await Deno.stat(config.dataDir).catch(() => null)) {
    throw new Error(
      `Cannot ${act.words}: there is no DATA_DIR ${
        resolve(config.dataDir)
      }: start the service once, or name its DATA_DIR`,
    );
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
async function askService<Result>(dataDir: string, { words, through }: Act<Result>): Promise<Result> {
  using client = Deno.createHttpClient({ proxy: { transport: "unix", path: controlSocketPath(dataDir) } });
  return await through(async (path) => {
    const response = await fetch(`http://service/${path}`, { method: "POST", client });
    if (response.ok || response.status === 404) return response;
    throw new Error(`Cannot ${words}: the service answered ${response.status}`);
  });
}

try {
  await main(Deno.args);
} catch (error) {
  stop(error instanceof Error ? error.message : String(error));
}
