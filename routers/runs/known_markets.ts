import type { Member } from "../../db/universes.ts";
import { hintAt } from "../../market/on_demand/choose_target.ts";
import { findUnknown } from "../../market/on_demand/unknown_targets.ts";
import { AppError, quote } from "../common/errors.ts";
import type { UserContext } from "../common/trpc.ts";

// The most instruments that a message names.
const NAMED_MAX = 10;

/**
 * Refuses instruments that the archive does not hold and no feed can have.
 *
 * @param at The JSON pointer of a member. @param name Of the universe that lists them, or null. @param setting The one that leaves out instruments.
 * @throws AppError INVALID_PARAMETERS with the first of them, what it may have meant, and the names of others.
 */
export async function requireKnown(
  ctx: UserContext,
  members: readonly Member[],
  { at, name, setting = "portfolio.missing" }: {
    readonly at: (index: number) => string;
    readonly name: string | null;
    readonly setting?: string;
  },
): Promise<void> {
  const { feeds } = ctx.readThrough;
  const unknown = await findUnknown(ctx.db, feeds, members);
  const [first, ...others] = new Map(unknown.map((member) => [nameOf(member), member])).values();
  if (first === undefined) return;
  const list = name === null ? "" : `${quote(name)} lists `;
  const more = others.slice(0, NAMED_MAX).map(nameOf).join(", ");
  const rest = others.length > NAMED_MAX ? ` and ${others.length - NAMED_MAX} more` : "";
  const message = [
    `must be an instrument that is held or that a feed serves, and ${list}${nameOf(first)} is none`,
    await hintAt(ctx.db, feeds, first),
    ...(others.length === 0 ? [] : [`without candles, too: ${more}${rest}`]),
    `${setting} "skip" leaves them out`,
  ].join("; ");
  const path = at(members.indexOf(first));
  throw new AppError("INVALID_PARAMETERS", `Cannot run over many markets: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

function nameOf({ symbol, exchange }: Member): string {
  return `${symbol}@${exchange}`;
}
