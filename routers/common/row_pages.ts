/** Rows of an answer as pages, made in the turns of their user. */
import type { Page } from "./paging.ts";
import type { Context, User } from "./trpc.ts";

const PAGE_ROWS = 4096;

/** The user who reads, and the turns in which users' large answers are made. */
type Reading = Pick<Context, "userTurns"> & { readonly user: User };

/** Collects rows into pages of a few thousand. @param batches Rows as they are read; it is ended where its reader leaves. */
export async function* pageRows<Row>(
  { userTurns, user }: Reading,
  batches: AsyncGenerator<readonly Row[]>,
): AsyncGenerator<Page<Row>> {
  let left: readonly Row[] = [];
  const readPage = async () => {
    const items: Row[] = left.slice(0, PAGE_ROWS);
    left = left.slice(items.length);
    while (items.length < PAGE_ROWS) {
      const { value: batch, done } = await batches.next();
      if (done === true) return { items, isLast: true };
      const room = PAGE_ROWS - items.length;
      items.push(...batch.slice(0, room));
      left = batch.slice(room);
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
    await batches.return(undefined);
  }
}
