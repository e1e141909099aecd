/** The daily returns that an optimization keeps, as a table. */
import { z } from "zod";
import { readTrialReturns } from "../../db/trial_chunks.ts";
import { columnsOf } from "../common/formats.ts";
import type { Page } from "../common/paging.ts";
import type { Context, User } from "../common/trpc.ts";

const PAGE_ROWS = 4096;

/** A trial's number, the day from 1, and its return. */
export const returnSchema = z.object({ number: z.int(), day: z.int(), return: z.number() }).meta({ id: "TrialReturn" });

type ReturnRow = z.infer<typeof returnSchema>;

export const RETURN_COLUMNS = columnsOf(returnSchema);

/** Reads the daily returns of an optimization's trials, a few thousand at a time. */
export async function* readReturnRows(
  { db, userTurns, user }: Pick<Context, "db" | "userTurns"> & { readonly user: User },
  optimizationId: string,
): AsyncGenerator<Page<ReturnRow>> {
  const trials = readTrialReturns(db, optimizationId);
  const readPage = async () => {
    const items: ReturnRow[] = [];
    while (items.length < PAGE_ROWS) {
      const { value: trial, done } = await trials.next();
      if (done === true) return { items, isLast: true };
      for (const [i, value] of trial.returns.entries()) {
        items.push({ number: trial.place + 1, day: i + 1, return: value });
      }
    }
    return { items, isLast: false };
  };
  let isBegun = false;
  try {
    for (;;) {
      // A first page may be refused, where too much of the user's waits already.
      const { items, isLast } = isBegun
        ? await userTurns.runLater(user.id, readPage)
        : await userTurns.run(user.id, readPage);
      isBegun = true;
      yield { items, next_cursor: null };
      if (isLast) return;
    }
  } finally {
    await trials.return(undefined);
  }
}
