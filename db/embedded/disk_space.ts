import type { PGlite } from "@electric-sql/pglite";
import { getLogger } from "@logtape/logtape";
import { statfs } from "node:fs/promises";

const log = getLogger(["hindcast", "db"]);

const CHECK_MS = 500;
// Eight files of the write-ahead log: more than is written between two looks.
const RESERVE_BYTES = 128 * 2 ** 20;

/** The embedded database cannot be opened because its disk is full; the message names it. */
export class NoRoomError extends Error {
  override readonly name = "NoRoomError";
}

/**
 * Opens the embedded database; where that fails on a disk that is nearly full, the error says that instead of what PGlite makes of it.
 *
 * @param folder On the database's disk.
 * @throws {NoRoomError}
 */
export async function openWithRoom<Opened>(folder: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (cause) {
    const leftBytes = await measureRoom(folder);
    if (leftBytes >= RESERVE_BYTES) throw cause;
    const reason = `the disk of ${folder} has ${toMebibytes(leftBytes)} MiB left`;
    throw new NoRoomError(`Cannot start: the embedded database cannot be opened: ${reason}`, { cause });
  }
}

/**
 * Lets the embedded database be read only while its disk is nearly full.
 *
 * A server that cannot write its log ends; PGlite computes for ever instead, and the whole process hangs. So it must not come to that.
 * Writes are refused with SQLSTATE 25006 meanwhile, and go on by themselves when there is room again.
 *
 * @param folder On the database's disk.
 * @returns What ends it, and lets the database be written.
 */
export function keepRoom(pglite: PGlite, folder: string, reserveBytes = RESERVE_BYTES): () => Promise<void> {
  let isReadOnly = false;
  let checking = Promise.resolve();
  const check = async () => {
    const leftBytes = await measureRoom(folder);
    const isFull = leftBytes < reserveBytes;
    if (isFull === isReadOnly) return;
    await pglite.exec(`set default_transaction_read_only = ${isFull ? "on" : "off"}`);
    isReadOnly = isFull;
    const megabytes = toMebibytes(leftBytes);
    if (isFull) {
      log.error("Nothing is written any more: the disk of {folder} has {megabytes} MiB left", { folder, megabytes });
    } else log.warn("Writing again: the disk of {folder} has {megabytes} MiB left", { folder, megabytes });
  };
  const timer = setInterval(() => {
    checking = checking.then(check).catch((error) => {
      log.warn("Cannot look after the room on the disk: {error}", { error });
    });
  }, CHECK_MS);
  return async () => {
    clearInterval(timer);
    await checking;
    if (isReadOnly) await pglite.exec("set default_transaction_read_only = off");
  };
}

async function measureRoom(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function toMebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
