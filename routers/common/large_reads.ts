import type { List } from "./paging.ts";
import type { Context, User } from "./trpc.ts";

/**
 * Reads a curve or a chart of the caller's runs: after the earlier calls of the same request, and few of one user's at a time.
 *
 * @throws AppError RANGE_TOO_LARGE where the earlier calls have used up what a request may read or answer.
 * @throws AppError RATE_LIMITED where too much of the user's waits already.
 */
export async function readLarge<Answer>(
  { answer, userTurns, user, link }: Context & { readonly user: User },
  read: () => Promise<Answer>,
): Promise<Answer> {
  return await answer.inTurn(async () => {
    answer.requireSome();
    return await userTurns.run(turnKey(user, link), read);
  });
}

/**
 * A list of a run's or an optimization's rows: each piece is read in a turn of the user's, as charts are, so that one user's downloads
 * do not slow everybody's requests.
 *
 * @throws AppError RATE_LIMITED, of its first piece, where too much of the user's waits already.
 */
export function readInTurns<Row, Item>(
  ctx: TurnsContext,
  list: List<Row, Item>,
): List<Row, Item> {
  const run = turnsOf(ctx);
  return { ...list, read: (after, limit) => run(() => list.read(after, limit)) };
}

/** Runs the pieces of one answer in turns of the caller's. The first one throws AppError RATE_LIMITED where too much waits already. */
export function turnsOf(
  { userTurns, user, link }: TurnsContext,
): <Piece>(work: () => Promise<Piece>) => Promise<Piece> {
  const key = turnKey(user, link);
  let isBegun = false;
  return async (work) => {
    if (isBegun) return await userTurns.runLater(key, work);
    isBegun = true;
    return await userTurns.run(key, work);
  };
}

/**
 * Reads all of a run's rows for an answer that keeps something of each in memory: two such readings at a time, whoever asks, since one
 * thread decodes the rows of all. Its pieces take turns of their own.
 *
 * @throws AppError RATE_LIMITED where too much of the user's waits already.
 */
export async function readWhole<Answer>(
  { userTurns, user, link }: TurnsContext,
  read: () => Promise<Answer>,
): Promise<Answer> {
  return await userTurns.run(`whole ${turnKey(user, link)}`, () => userTurns.runLater("whole", read));
}

/** Pieces of an answer, each of which is made in a turn of the caller's. It ends them where its reader leaves. */
export async function* piecesInTurns<Piece>(ctx: TurnsContext, pieces: AsyncGenerator<Piece>): AsyncGenerator<Piece> {
  const run = turnsOf(ctx);
  try {
    for (;;) {
      const { value, done } = await run(() => pieces.next());
      if (done === true) return;
      yield value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

type TurnsContext = Pick<Context, "userTurns" | "link"> & { readonly user: User };

/** Readers of a link share turns of its own: they must not use up its owner's. */
function turnKey({ id }: User, link: Context["link"]): string {
  return link === null ? id : `link ${link.id}`;
}
