import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { moduleChecks } from "./schema.ts";
import { storableText } from "./codec/storable.ts";

export type ModuleCheck = typeof moduleChecks.$inferSelect;
export type Verdict = NonNullable<ModuleCheck["verdict"]>;

// Longer than any request waits. An older check without a verdict belongs to a process that died.
const WAIT_SECONDS_MAX = 60;

/**
 * The queue position of a user's next check, by the rule of nextQueuePosition() in quotas.ts.
 *
 * @param tx Holds the user's lock, or two checks could get the same position.
 * @returns Null when `waitingMax` of their checks wait already.
 */
export async function nextCheckPosition(tx: Db, ownerId: string, waitingMax: number): Promise<number | null> {
  const own = sql`filter (where ${moduleChecks.ownerId} = ${ownerId})`;
  const since = sql`now() - ${WAIT_SECONDS_MAX}::integer * interval '1 second'`;
  const [waiting] = await tx.select({
    count: sql`count(*) ${own}`.mapWith(Number),
    next: sql`greatest(max(${moduleChecks.queuePosition}) ${own} + 1, min(${moduleChecks.queuePosition}), 0)`.mapWith(
      Number,
    ),
  }).from(moduleChecks).where(and(isNull(moduleChecks.verdict), gt(moduleChecks.createdAt, since)));
  if (waiting === undefined || waiting.count >= waitingMax) return null;
  return waiting.next;
}

/** Writes the request for a worker's verdict on a module or a script. @returns The check's id. */
export async function insertCheck(
  tx: Db,
  values:
    & Pick<ModuleCheck, "ownerId" | "data" | "moduleUrl" | "parameters" | "lookbackCandles" | "queuePosition">
    & Partial<Pick<ModuleCheck, "format">>,
): Promise<string> {
  const id = uuidv7();
  await tx.insert(moduleChecks).values({ ...values, id });
  return id;
}

/** A check, or null when the request that asked for it has given up. */
export async function readCheck(db: Db, id: string): Promise<ModuleCheck | null> {
  const [row] = await db.select().from(moduleChecks).where(eq(moduleChecks.id, id));
  return row ?? null;
}

/** The verdict without the module's bytes; undefined while there is none. */
export async function readVerdict(db: Db, id: string): Promise<Verdict | undefined> {
  const [row] = await db.select({ verdict: moduleChecks.verdict }).from(moduleChecks).where(eq(moduleChecks.id, id));
  return row?.verdict ?? undefined;
}

/** Stores a verdict with the bytes of the module. */
export async function storeVerdict(db: Db, id: string, verdict: Verdict, data: Uint8Array | null): Promise<void> {
  const storable = verdict.accepted ? verdict : { ...verdict, message: storableText(verdict.message) };
  await db.update(moduleChecks).set({ verdict: storable, data }).where(eq(moduleChecks.id, id));
}

export async function deleteCheck(db: Db, id: string): Promise<void> {
  await db.delete(moduleChecks).where(eq(moduleChecks.id, id));
}

/** Removes the checks from before a moment. */
export async function deleteOldChecks(db: Db, before: Date): Promise<void> {
  await db.delete(moduleChecks).where(lt(moduleChecks.createdAt, before));
}
