import { and, eq, sql } from "drizzle-orm";
import { addSizes, measureLabels } from "./backtest_sizes.ts";
import type { Backtest } from "./backtests.ts";
import type { OwnedKey } from "./runs.ts";
import type { Db } from "./client.ts";
import { NOTIFY_OF_RECORD } from "./change_channel.ts";
import { backtests } from "./schema.ts";
import { BACKTEST_COLUMNS } from "./stale_results.ts";

/** The owner's own words about a backtest, which no run reads. */
type Labels = Pick<Backtest, "name" | "tags" | "notes" | "star">;

/**
 * Changes those labels that are given, and notifies followers of the record and of its owner's list.
 *
 * @param tx Changes no other record afterwards, see addSizes().
 * @returns The record, and by how many bytes it grew; null if this user has none of that id.
 */
export async function updateLabels(
  tx: Db,
  key: OwnedKey,
  changes: { readonly [Name in keyof Labels]?: Labels[Name] | undefined },
): Promise<{ readonly backtest: Backtest; readonly grownBytes: number } | null> {
  const owned = and(eq(backtests.id, key.id), eq(backtests.ownerId, key.ownerId));
  const { name, tags, notes } = backtests;
  const [before] = await tx.select({ name, tags, notes }).from(backtests).where(owned).for("no key update");
  if (before === undefined) return null;
  const present = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const grownBytes = measureLabels({ ...before, ...present }) - measureLabels(before);
  const [backtest] = await tx.update(backtests)
    .set({ ...present, sizeBytes: sql`${backtests.sizeBytes} + ${grownBytes}` }).where(owned).returning(
      { ...BACKTEST_COLUMNS, notified: sql.raw(NOTIFY_OF_RECORD) },
    );
  await addSizes(tx, [{ ownerId: key.ownerId, sizeBytes: grownBytes }]);
  return backtest === undefined ? null : { backtest, grownBytes };
}
