import { z } from "zod";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { updateLabels } from "../../db/backtest_labels.ts";
import type { Backtest } from "../../db/backtests.ts";
import type { OwnedKey } from "../../db/runs.ts";
import type { Db } from "../../db/client.ts";
import { backtestRuns } from "./backtest_runs.ts";
import { NO_LINE, NO_TEXT, plainText } from "../common/plain_text.ts";
import { requireRoomForLabels } from "../common/quotas.ts";
import type { Context } from "../common/trpc.ts";

const NAME_LENGTH_MAX = 200;
const NOTES_LENGTH_MAX = 10_000;
const TAGS_MAX = 20;
const TAG_LENGTH_MAX = 50;

// Nothing but spaces is the same as null.
const orNull = (text: string | null) => text || null;

/** A tag of a backtest. */
export const tagSchema = plainText(NO_LINE, TAG_LENGTH_MAX).pipe(z.string().min(1));

/** The owner's own words about a backtest: each may be left out, and null clears it. */
export const labelShape = {
  name: plainText(NO_LINE, NAME_LENGTH_MAX).nullable().transform(orNull).optional(),
  tags: z.array(tagSchema).max(TAGS_MAX).nullable().transform((tags) => [...new Set(tags)]).optional(),
  notes: plainText(NO_TEXT, NOTES_LENGTH_MAX).nullable().transform(orNull).optional(),
  star: z.boolean().nullable().transform((star) => star ?? false).optional(),
};

/**
 * Changes the labels of a user's backtest, whatever its status is.
 *
 * @throws AppError BACKTEST_NOT_FOUND; QUOTA_EXCEEDED when they grow and the user is over the storage quota.
 */
export async function changeLabels(
  { db, quotas }: Context,
  key: OwnedKey,
  changes: Parameters<typeof updateLabels>[2],
): Promise<Backtest> {
  return await db.transaction(async (tx: Db) => {
    const changed = await updateLabels(tx, key, changes);
    if (changed === null) throw backtestRuns.notFound(key.id);
    if (changed.grownBytes > 0) requireRoomForLabels(await measureBacktests(tx, key.ownerId), quotas);
    return changed.backtest;
  });
}
