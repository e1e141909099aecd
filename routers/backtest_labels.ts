import { z } from "zod";
import { measureBacktests } from "../db/backtest_sizes.ts";
import { updateLabels } from "../db/backtest_labels.ts";
import type { Backtest, OwnedKey } from "../db/backtests.ts";
import type { Db } from "../db/client.ts";
import { notFound } from "./backtest_events.ts";
import { mustBe } from "./errors.ts";
import { requireRoomForLabels } from "./quotas.ts";
import type { Context } from "./trpc.ts";

const NAME_LENGTH_MAX = 200;
const NOTES_LENGTH_MAX = 10_000;
const TAGS_MAX = 20;
const TAG_LENGTH_MAX = 50;

// Control characters and line breaks, and what turns the direction of the text around it.
const NO_LINE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const NO_TEXT = /(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u;

/** A text of the owner's, trimmed and in the form NFC. */
function plainText(refused: RegExp, lengthMax: number) {
  const normalise = (text: string) => text.replaceAll("\r\n", "\n").normalize("NFC").trim();
  return z.string().transform(normalise)
    .pipe(
      z.string().max(lengthMax).refine(
        (text) => !refused.test(text),
        mustBe("without control characters and without characters that change the direction of text"),
      ),
    );
}

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
    if (changed === null) throw notFound(key.id);
    if (changed.grownBytes > 0) requireRoomForLabels(await measureBacktests(tx, key.ownerId), quotas);
    return changed.backtest;
  });
}
