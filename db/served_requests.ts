import { and, eq, gt, isNull, lt, sql } from "drizzle-orm";
import type { Db } from "./client.ts";
import { servedRequests } from "./schema.ts";

/** The programs that answer to a name: those of one user. */
export interface EndpointKey {
  readonly ownerId: string;
  readonly name: string;
}

/** A request as a program gets it. */
export interface TakenRequest {
  readonly id: string;
  readonly body: string;
  readonly timeoutMs: number;
}

/** How far a request is. */
export interface ServedState {
  readonly deliveries: number;
  /** Milliseconds since it was stored. */
  readonly waitedMs: number;
  /** Milliseconds since its last delivery; null before the first. */
  readonly takenMs: number | null;
  readonly answer: { readonly json: string; readonly isRefusal: boolean } | null;
}

/** Deliveries of a request: a program that was lost is replaced once. */
export const DELIVERIES_MAX = 2;

const millisecondsSince = (column: typeof servedRequests.takenAt | typeof servedRequests.createdAt) =>
  sql<number | null>`(extract(epoch from now() - ${column}) * 1000)::float8`;

/** Stores a request. @param keptMs Time for which somebody waits for its answer. @returns Its id. */
export async function insertRequest(
  db: Db,
  { keptMs, ...request }: EndpointKey & { readonly body: string; readonly timeoutMs: number; readonly keptMs: number },
): Promise<string> {
  const expiresAt = sql`now() + ${keptMs}::int * interval '1 millisecond'`;
  const [row] = await db.insert(servedRequests).values({ ...request, expiresAt }).returning({ id: servedRequests.id });
  if (row === undefined) throw new Error("Cannot read back a request");
  return row.id;
}

/** Delivers the oldest request that no program has, or whose program did not answer in time. @returns Null where there is none. */
export async function takeRequest(db: Db, { ownerId, name }: EndpointKey): Promise<TakenRequest | null> {
  // No two programs get the same one.
  const next = sql`(select ${servedRequests.id} from ${servedRequests}
    where ${servedRequests.ownerId} = ${ownerId} and ${servedRequests.name} = ${name}
      and ${servedRequests.answer} is null and ${servedRequests.expiresAt} > now()
      and (${servedRequests.takenAt} is null or (${servedRequests.deliveries} < ${DELIVERIES_MAX}
        and ${servedRequests.takenAt} <= now() - ${servedRequests.timeoutMs} * interval '1 millisecond'))
    order by ${servedRequests.createdAt}, ${servedRequests.id} limit 1 for update skip locked)`;
  const [row] = await db.update(servedRequests)
    .set({ takenAt: sql`now()`, deliveries: sql`${servedRequests.deliveries} + 1` })
    .where(sql`${servedRequests.id} = ${next}`)
    .returning({ id: servedRequests.id, body: servedRequests.body, timeoutMs: servedRequests.timeoutMs });
  return row ?? null;
}

/** Stores the first answer to a request. @returns False where it has one already, or nobody waits for it. */
export async function answerRequest(
  tx: Db,
  { ownerId, name, id }: EndpointKey & { readonly id: string },
  answer: { readonly json: string; readonly isRefusal: boolean },
): Promise<boolean> {
  const rows = await tx.update(servedRequests).set({ answer: answer.json, isRefusal: answer.isRefusal }).where(and(
    eq(servedRequests.id, id),
    eq(servedRequests.ownerId, ownerId),
    eq(servedRequests.name, name),
    isNull(servedRequests.answer),
    gt(servedRequests.deliveries, 0),
    gt(servedRequests.expiresAt, sql`now()`),
  )).returning({ id: servedRequests.id });
  return rows.length > 0;
}

/** How far a request is; null once it is removed. */
export async function readRequest(db: Db, id: string): Promise<ServedState | null> {
  const [row] = await db.select({
    deliveries: servedRequests.deliveries,
    waitedMs: millisecondsSince(servedRequests.createdAt),
    takenMs: millisecondsSince(servedRequests.takenAt),
    json: servedRequests.answer,
    isRefusal: servedRequests.isRefusal,
  }).from(servedRequests).where(eq(servedRequests.id, id));
  if (row === undefined) return null;
  const { deliveries, waitedMs, takenMs, json, isRefusal } = row;
  return { deliveries, waitedMs: waitedMs ?? 0, takenMs, answer: json === null ? null : { json, isRefusal } };
}

/** Removes a request, answered or not. */
export async function deleteRequest(db: Db, id: string): Promise<void> {
  await db.delete(servedRequests).where(eq(servedRequests.id, id));
}

/** Removes the requests of processes that died before they could. */
export async function removeExpiredRequests(db: Db): Promise<void> {
  await db.delete(servedRequests).where(lt(servedRequests.expiresAt, sql`now()`));
}
