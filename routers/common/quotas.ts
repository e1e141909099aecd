import type { Db } from "../../db/client.ts";
import { countShares, type ShareSubject } from "../../db/shares.ts";
import { countTokens } from "../../db/tokens.ts";
import { measureUniverses } from "../../db/universes.ts";
import type { Module } from "../../db/modules.ts";
import type { Quotas } from "../../db/schema.ts";
import { nextCheckPosition } from "../../db/module_checks.ts";
import { isModuleKept, measurePublic, measureRegistry, type Usage } from "../../db/quotas.ts";
import { AppError } from "./errors.ts";

// Of all public strategies of a user: REST sends the whole catalogue.
const PUBLIC_BYTES_MAX = 512 * 1024;
// One of the user's backtests must end first; most take less time.
const RUN_SECONDS = 10;
// Modules of one user that may wait for a verdict: each waits in the memory of a process.
const CHECKS_MAX = 50;
const TOKENS_MAX = 50;
// Of one user, and of one run or optimization.
const SHARES_MAX = 200;
const SUBJECT_SHARES_MAX = 10;
// Of one user, with all versions.
const UNIVERSES_MAX = 200;
const UNIVERSE_BYTES_MAX = 16 * 1024 * 1024;
// The slowest check takes so long.
const CHECK_SECONDS = 5;
/** The user must remove something first. */
export const REMOVAL_SECONDS = 3600;

/** @throws AppError QUOTA_EXCEEDED when the user's backtests have too many bytes with their new notes. */
export function requireRoomForLabels(bytes: number, { resultBytesMax }: Quotas): void {
  if (bytes <= resultBytesMax) return;
  const reason = `with them your backtests would have ${bytes} bytes, and may have ${resultBytesMax}`;
  throw full("the longer notes", reason, "backtests");
}

/**
 * The queue position of a user's next run.
 *
 * @param noun As in "another backtest". @param unendedMax The most that may wait or run.
 * @throws AppError QUOTA_EXCEEDED when too many of the user's wait or run, or when the user is over the storage quota.
 */
export function requireRoomForRuns(
  noun: string,
  { bytes, queuePosition }: Usage,
  unendedMax: number,
  { resultBytesMax }: Quotas,
): number {
  if (bytes > resultBytesMax) throw tooManyBytes(`another ${noun}`, bytes, resultBytesMax);
  if (queuePosition !== null) return queuePosition;
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot queue another ${noun}: ${unendedMax} of yours are queued or running, and no more may be at a time; ` +
      "wait until one has ended, or cancel one",
    { retryAfterSeconds: RUN_SECONDS },
  );
}

/**
 * Finds the queue position of the check of a user's module.
 *
 * @param tx Holds the user's lock.
 * @throws AppError QUOTA_EXCEEDED when too many of the user's checks wait.
 */
export async function takeCheckPosition(tx: Db, userId: string): Promise<number> {
  const queuePosition = await nextCheckPosition(tx, userId, CHECKS_MAX);
  if (queuePosition !== null) return queuePosition;
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot check the module: ${CHECKS_MAX} of yours wait for their checks, and no more may at a time`,
    { retryAfterSeconds: CHECK_SECONDS },
  );
}

/**
 * Makes sure that the user may keep one more version of a strategy.
 *
 * @param tx Holds the user's lock.
 * @param module The new version's; null when it has none.
 * @throws AppError QUOTA_EXCEEDED
 */
export async function requireRoomForVersion(
  tx: Db,
  userId: string,
  quotas: Quotas,
  module: Module | null,
): Promise<void> {
  const { versions, bytes } = await measureRegistry(tx, userId, module?.sha256 ?? null);
  if (versions >= quotas.versionsMax) {
    const reason = `your strategies have ${versions}, and may have ${quotas.versionsMax}`;
    throw full("another version", reason, "a strategy");
  }
  requireBytes("another version", bytes + (module?.data.byteLength ?? 0), quotas);
}

/** Makes sure that a user may have another token. @param tx Holds the user's lock. @throws AppError QUOTA_EXCEEDED */
export async function requireRoomForToken(tx: Db, userId: string): Promise<void> {
  if (await countTokens(tx, userId) >= TOKENS_MAX) throw full("another token", `you have ${TOKENS_MAX}`, "a token");
}

/** Makes sure that a user may have another link, to a record. @param tx Holds the user's lock. @throws AppError QUOTA_EXCEEDED */
export async function requireRoomForShare(tx: Db, userId: string, subject: ShareSubject): Promise<void> {
  if (await countShares(tx, userId) >= SHARES_MAX) throw full("another link", `you have ${SHARES_MAX}`, "links");
  if (await countShares(tx, userId, subject) < SUBJECT_SHARES_MAX) return;
  throw full("another link", `there are ${SUBJECT_SHARES_MAX} to the same record`, "links");
}

/**
 * Makes sure that a user may keep the universes that they have.
 *
 * @param tx Holds the user's lock and the change.
 * @throws AppError QUOTA_EXCEEDED
 */
export async function requireRoomForUniverse(tx: Db, userId: string): Promise<void> {
  const { universes, bytes } = await measureUniverses(tx, userId);
  if (universes > UNIVERSES_MAX) throw full("another universe", `you have ${UNIVERSES_MAX}`, "a universe");
  if (bytes <= UNIVERSE_BYTES_MAX) return;
  const reason = `your universes would have ${bytes} bytes with all versions, and may have ${UNIVERSE_BYTES_MAX}`;
  throw full("the members", reason, "a universe");
}

/**
 * Makes sure that a user's public strategies leave everybody's catalogue short.
 *
 * @param tx Holds the user's lock and the change.
 * @throws AppError QUOTA_EXCEEDED
 */
export async function requireRoomInCatalogue(tx: Db, userId: string): Promise<void> {
  const bytes = await measurePublic(tx, userId);
  if (bytes <= PUBLIC_BYTES_MAX) return;
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot make this public: your public strategies would have ${bytes} bytes of default_config, parameter_schema ` +
      `and description, and may have ${PUBLIC_BYTES_MAX}; shorten them, or make one private`,
    { retryAfterSeconds: REMOVAL_SECONDS },
  );
}

/** Makes sure that a module that came with a backtest may be kept. @param tx Holds the user's lock. @throws AppError QUOTA_EXCEEDED */
export async function requireRoomForModule(
  tx: Db,
  userId: string,
  quotas: Quotas,
  module: Module,
): Promise<void> {
  if (await isModuleKept(tx, userId, module.sha256)) return;
  const { bytes } = await measureRegistry(tx, userId, null);
  requireBytes("the module", bytes + module.data.byteLength, quotas);
}

function requireBytes(what: string, bytes: number, { registryBytesMax }: Quotas): void {
  if (bytes <= registryBytesMax) return;
  const reason = `with this one your modules would have ${bytes} bytes, and may have ${registryBytesMax}`;
  throw full(what, reason, "a strategy, or backtests that brought modules,");
}

function tooManyBytes(what: string, bytes: number, bytesMax: number): AppError {
  const reason = `your backtests have ${bytes} bytes with their results, and may have ${bytesMax}`;
  return full(what, reason, "backtests");
}

function full(what: string, reason: string, removable: string): AppError {
  const message = `Cannot keep ${what}: ${reason}; delete ${removable} that you no longer need`;
  return new AppError("QUOTA_EXCEEDED", message, { retryAfterSeconds: REMOVAL_SECONDS });
}
