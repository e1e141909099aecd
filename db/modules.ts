import { and, eq, inArray, notExists, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { backtests, modules, strategyVersions } from "./schema.ts";

/** A WASM module and its name, the SHA-256 of its bytes in hexadecimal. */
export interface Module {
  readonly sha256: string;
  readonly data: Uint8Array;
}

/** Keeps a module, once for equal bytes, as long as a record that the caller's transaction writes needs it. */
export async function storeModule(tx: Db, { sha256, data }: Module): Promise<void> {
  // An update of what is there already, since that takes hold of the row, or waits for one who removes it and writes it anew.
  await tx.insert(modules).values({ sha256, data }).onConflictDoUpdate({ target: modules.sha256, set: { sha256 } });
}

/**
 * Holds a module that is kept already until the caller's transaction, which writes what needs it, has ended.
 *
 * @returns Whether it is there: false when it was removed since its sum was read.
 */
export async function holdModule(tx: Db, sha256: string): Promise<boolean> {
  const rows = await tx.select({ sha256: modules.sha256 }).from(modules).where(eq(modules.sha256, sha256)).for(
    "key share",
  );
  return rows.length > 0;
}

/** A module's bytes, or null where none has this sum. */
export async function readModule(db: Db, sha256: string): Promise<Uint8Array | null> {
  const [row] = await db.select({ data: modules.data }).from(modules).where(eq(modules.sha256, sha256));
  return row?.data ?? null;
}

/**
 * Removes modules that neither a version nor a record needs, ended records included.
 *
 * @param tx A transaction of its own: what it looks at is locked for everybody until it ends.
 * @returns How many; fewer than `countMax` when there are no more, or somebody is about to need them.
 */
export async function removeUnusedModules(tx: Db, countMax: number): Promise<number> {
  const unused = and(
    notExists(tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, modules.sha256))),
    notExists(
      tx.select({ one: sql`1` }).from(backtests).where(eq(sql`${backtests.runtime} ->> 'sha256'`, modules.sha256)),
    ),
  );
  // Those that storeModule() or holdModule() hold are passed over.
  const locked = await tx.select({ sha256: modules.sha256 }).from(modules).where(unused).limit(countMax)
    .for("update", { skipLocked: true });
  // From here on nobody takes hold of these. Who did and has committed between the look and the lock is seen by a second look.
  const sums = locked.map(({ sha256 }) => sha256);
  const removed = await tx.delete(modules).where(and(inArray(modules.sha256, sums), unused))
    .returning({ sha256: modules.sha256 });
  return removed.length;
}
