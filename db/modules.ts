import { and, eq, exists, inArray, isNull, notExists, or, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { backtests, modules, optimizations, strategyVersions } from "./schema.ts";

/** A WASM module or the source of a script, and its name, the SHA-256 of its bytes in hexadecimal. */
export interface Module {
  readonly sha256: string;
  readonly data: Uint8Array;
}

/** Stores a module, once for equal bytes. The caller's transaction also writes the record that needs it. */
export async function storeModule(tx: Db, { sha256, data }: Module): Promise<void> {
  // Updating an existing row locks it, or waits for its removal and inserts it again.
  await tx.insert(modules).values({ sha256, data }).onConflictDoUpdate({ target: modules.sha256, set: { sha256 } });
}

/**
 * Keeps a stored module from removal until the caller's transaction, which writes a record that needs it, has ended.
 *
 * @returns True if the module exists.
 */
export async function holdModule(tx: Db, sha256: string): Promise<boolean> {
  const rows = await tx.select({ sha256: modules.sha256 }).from(modules).where(eq(modules.sha256, sha256)).for(
    "key share",
  );
  return rows.length > 0;
}

/** A module's bytes; null if none has this checksum. */
export async function readModule(db: Db, sha256: string): Promise<Uint8Array | null> {
  const [row] = await db.select({ data: modules.data }).from(modules).where(eq(modules.sha256, sha256));
  return row?.data ?? null;
}

/** The bytes of a module that came with a backtest or an optimization of a user's; null where none of them has this checksum. */
export async function readOwnModule(
  db: Db,
  { ownerId, sha256 }: { readonly ownerId: string; readonly sha256: string },
): Promise<Uint8Array | null> {
  const ownIn = (records: typeof backtests | typeof optimizations) =>
    exists(
      db.select({ one: sql`1` }).from(records).where(and(
        eq(records.ownerId, ownerId),
        eq(sql`${records.runtime} ->> 'sha256'`, sha256),
        // A run of a registered strategy has its module, which may be another user's.
        isNull(records.strategySlug),
      )),
    );
  const [row] = await db.select({ data: modules.data }).from(modules).where(
    and(eq(modules.sha256, sha256), or(ownIn(backtests), ownIn(optimizations))),
  );
  return row?.data ?? null;
}

/**
 * Removes modules that no version, no backtest and no optimization, ended ones included, needs.
 *
 * @param tx A transaction of its own: it locks the rows that it reads until it ends.
 * @returns How many; fewer than `countMax` when no more are unused, or other transactions hold them.
 */
export async function removeUnusedModules(tx: Db, countMax: number): Promise<number> {
  const unused = and(
    notExists(tx.select({ one: sql`1` }).from(strategyVersions).where(eq(strategyVersions.sha256, modules.sha256))),
    ...[backtests, optimizations].map((records) =>
      notExists(
        tx.select({ one: sql`1` }).from(records).where(eq(sql`${records.runtime} ->> 'sha256'`, modules.sha256)),
      )
    ),
  );
  // Rows that storeModule() or holdModule() lock are skipped.
  const locked = await tx.select({ sha256: modules.sha256 }).from(modules).where(unused).limit(countMax)
    .for("update", { skipLocked: true });
  // Nobody else can lock these rows now. The delete checks again for a record committed between the select and its locks.
  const sums = locked.map(({ sha256 }) => sha256);
  const removed = await tx.delete(modules).where(and(inArray(modules.sha256, sums), unused))
    .returning({ sha256: modules.sha256 });
  return removed.length;
}
