import { eq, lt } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Db } from "./client.ts";
import { moduleChecks } from "./schema.ts";
import { storableText } from "./storable.ts";

export type ModuleCheck = typeof moduleChecks.$inferSelect;
export type Verdict = NonNullable<ModuleCheck["verdict"]>;

/** Asks for a worker's verdict on a module. @returns The check's id. */
export async function insertCheck(
  tx: Db,
  values: Pick<ModuleCheck, "ownerId" | "data" | "moduleUrl" | "parameters" | "lookbackCandles">,
): Promise<string> {
  const id = uuidv7();
  await tx.insert(moduleChecks).values({ ...values, id });
  return id;
}

/** A check as it stands, or null when whoever asked has given up. */
export async function readCheck(db: Db, id: string): Promise<ModuleCheck | null> {
  const [row] = await db.select().from(moduleChecks).where(eq(moduleChecks.id, id));
  return row ?? null;
}

/** The verdict alone, since the module may be megabytes; undefined while there is none. */
export async function readVerdict(db: Db, id: string): Promise<Verdict | undefined> {
  const [row] = await db.select({ verdict: moduleChecks.verdict }).from(moduleChecks).where(eq(moduleChecks.id, id));
  return row?.verdict ?? undefined;
}

/** Records a verdict, with the bytes that it is about. */
export async function storeVerdict(db: Db, id: string, verdict: Verdict, data: Uint8Array | null): Promise<void> {
  const storable = verdict.accepted ? verdict : { ...verdict, message: storableText(verdict.message) };
  await db.update(moduleChecks).set({ verdict: storable, data }).where(eq(moduleChecks.id, id));
}

export async function deleteCheck(db: Db, id: string): Promise<void> {
  await db.delete(moduleChecks).where(eq(moduleChecks.id, id));
}

/** Removes checks from before a moment, whose askers read no verdict any more. */
export async function deleteOldChecks(db: Db, before: Date): Promise<void> {
  await db.delete(moduleChecks).where(lt(moduleChecks.createdAt, before));
}
