import { readRunMembers } from "../../db/run_members.ts";
import type { Member } from "../../db/universes.ts";
import { AppError } from "../common/errors.ts";
import type { UserContext } from "../common/trpc.ts";
import { resolveUniverse } from "./find_universe.ts";

/**
 * The members that a backtest or an optimization had, where its universe was deleted since, or its name belongs to other members.
 *
 * @returns Parameters in place of its own; empty where these still say the same.
 */
export async function sameMembers(
  ctx: UserContext,
  { id, parameters: { universe } }: { readonly id: string; readonly parameters: Readonly<Record<string, unknown>> },
): Promise<{ readonly universe?: undefined; readonly instruments?: readonly Member[] }> {
  if (typeof universe !== "string") return {};
  const kept = await readRunMembers(ctx.db, id);
  if (kept === null) return {};
  const now = await resolveUniverse(ctx, universe).catch((error: unknown) => {
    if (error instanceof AppError && error.appCode === "UNIVERSE_NOT_FOUND") return null;
    throw error;
  });
  return JSON.stringify(now?.members) === JSON.stringify(kept) ? {} : { universe: undefined, instruments: kept };
}
