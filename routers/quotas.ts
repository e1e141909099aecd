import type { Db } from "../db/client.ts";
import { lockUser, measureRegistry, nextTurn } from "../db/quotas.ts";
import { AppError } from "./errors.ts";

/** What one user may have at a time. */
export interface Quotas {
  /** Queued and running backtests. */
  readonly backtestsMax: number;
  /** Versions of registered strategies. */
  readonly versionsMax: number;
  /** Bytes of the modules of those. */
  readonly registryBytesMax: number;
}

// A backtest of the user's own has to end first; most take less than this.
const RUN_SECONDS = 10;
// The user has to remove something first.
const REMOVAL_SECONDS = 3600;

/**
 * Finds the turn of a user's next backtest; the transaction then has the user's lock.
 *
 * @throws AppError QUOTA_EXCEEDED where he may have no more waiting.
 */
export async function takeTurn(tx: Db, userId: string, { backtestsMax }: Quotas): Promise<number> {
  await lockUser(tx, userId);
  const turn = await nextTurn(tx, userId, backtestsMax);
  if (turn !== null) return turn;
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot queue another backtest: ${backtestsMax} of yours are queued or running, and no more may be at a time; ` +
      "wait until one has ended, or cancel one",
    { retryAfterSeconds: RUN_SECONDS },
  );
}

/**
 * Makes sure that the user may keep one more version of a strategy; the transaction then has the user's lock.
 *
 * @param moduleBytes The new version's; 0 when it has no module.
 * @throws AppError QUOTA_EXCEEDED
 */
export async function requireRoomForVersion(
  tx: Db,
  userId: string,
  quotas: Quotas,
  moduleBytes: number,
): Promise<void> {
  await lockUser(tx, userId);
  const { versions, bytes } = await measureRegistry(tx, userId);
  const refuse = (reason: string) =>
    new AppError(
      "QUOTA_EXCEEDED",
      `Cannot keep another version: ${reason}; delete a strategy that you no longer need`,
      {
        retryAfterSeconds: REMOVAL_SECONDS,
      },
    );
  if (versions >= quotas.versionsMax) {
    throw refuse(`your strategies have ${versions}, and may have ${quotas.versionsMax}`);
  }
  if (bytes + moduleBytes > quotas.registryBytesMax) {
    throw refuse(
      `with this one your modules would have ${bytes + moduleBytes} bytes, and may have ${quotas.registryBytesMax}`,
    );
  }
}
