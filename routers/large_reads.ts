import type { Context, User } from "./trpc.ts";

/**
 * Reads a curve or a chart of the caller's runs: after the earlier calls of the same request, and few of one user's at a time.
 *
 * @throws AppError RANGE_TOO_LARGE where the earlier calls have used up what a request may read or answer.
 * @throws AppError RATE_LIMITED where too much of the user's waits already.
 */
export async function readLarge<Answer>(
  { answer, userTurns, user }: Context & { readonly user: User },
  read: () => Promise<Answer>,
): Promise<Answer> {
  return await answer.inTurn(async () => {
    answer.requireSome();
    return await userTurns.run(user.id, read);
  });
}
