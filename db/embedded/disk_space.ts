import { getLogger } from "@logtape/logtape";
import type { PostgresPool } from "../postgres/postgres_pool.ts";

const log = getLogger(["hindcast", "db"]);

const CHECK_MS = 500;
// Eight files of the write-ahead log: more than is written between two checks.
const RESERVE_BYTES = 128 * 2 ** 20;

/** The embedded database cannot be opened because its disk is full; the message names the disk. */
export class DiskFullError extends Error {
  override readonly name = "DiskFullError";
}

/**
 * Opens the embedded database. When that fails on a disk that is nearly full, the error says so: PGlite's own error does not.
 *
 * @param folder On the database's disk.
 * @throws {DiskFullError}
 */
export async function explainFullDisk<Opened>(folder: string, open: () => Promise<Opened>): Promise<Opened> {
  try {
    return await open();
  } catch (cause) {
    const leftBytes = await measureFreeBytes(folder);
    if (leftBytes >= RESERVE_BYTES) throw cause;
    const reason = `the disk of ${folder} has ${toMebibytes(leftBytes)} MiB left`;
    throw new DiskFullError(`Cannot start: the embedded database cannot be opened: ${reason}`, { cause });
  }
}

/**
 * Makes the embedded database read-only while its disk is nearly full.
 *
 * PGlite hangs when it cannot write its log, where a server would end. Writes fail with SQLSTATE 25006 meanwhile, and
 * succeed again when there is space.
 *
 * @param folder On the database's disk.
 * @returns A function that ends the guard and makes the database writable.
 */
export function guardDiskSpace(pool: PostgresPool, folder: string, reserveBytes = RESERVE_BYTES): () => Promise<void> {
  let isReadOnly = false;
  let checking = Promise.resolve();
  const check = async () => {
    const leftBytes = await measureFreeBytes(folder);
    const isFull = leftBytes < reserveBytes;
    if (isFull === isReadOnly) return;
    await pool.query(`set default_transaction_read_only = ${isFull ? "on" : "off"}`);
    isReadOnly = isFull;
    const megabytes = toMebibytes(leftBytes);
    if (isFull) {
      log.error("The database is read-only: the disk of {folder} has {megabytes} MiB left; free some space", {
        folder,
        megabytes,
      });
    } else {log.warn("The database is writable again: the disk of {folder} has {megabytes} MiB left", {
        folder,
        megabytes,
      });}
  };
  const timer = setInterval(() => {
    checking = checking.then(check).catch((error) => {
      log.warn("Cannot check the free space of the disk: {error}", { error });
    });
  }, CHECK_MS);
  return async () => {
    clearInterval(timer);
    await checking;
    if (isReadOnly) await pool.query("set default_transaction_read_only = off");
  };
}

async function measureFreeBytes(folder: string): Promise<number> {
  // Imported here, because older runtimes lack it and must get as far as the message that refuses them.
  const { statfs } = await import("node:fs/promises");
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function toMebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
