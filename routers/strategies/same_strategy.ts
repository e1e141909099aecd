import type { Optimization } from "../../db/optimizations.ts";
import { findStrategy, getVersion } from "../../db/strategies.ts";
import type { Context, User } from "../common/trpc.ts";
import { RUNTIME_PATH, unknownStrategy } from "./unknown_strategy.ts";

/** A record, as far as it says which strategy it ran. */
type Ran = Pick<
  Optimization,
  "id" | "parameters" | "strategySlug" | "strategyVersion" | "runtime" | "createdAt"
>;

/**
 * Names the strategy of an earlier record for another backtest, in the version that it ran: there may be a newer one. Code that came
 * with the record is named by its parameters.
 *
 * @param kind Of the record, for the message.
 * @returns The parameters that a new backtest needs besides those of the record.
 * @throws AppError UNKNOWN_STRATEGY where the version was deleted and then registered anew, perhaps with other code.
 */
export async function sameStrategy(
  { db, user }: Context & { readonly user: User },
  { id, parameters, strategySlug: slug, strategyVersion: version, runtime, createdAt }: Ran,
  kind: "backtest" | "optimization",
): Promise<{ readonly runtime?: object }> {
  if (slug === null || version === null) return {};
  if (runtime === null) return parameters.runtime === undefined ? { runtime: { slug } } : {};
  const found = await findStrategy(db, { slug, userId: user.id });
  const held = found && await getVersion(db, { strategyId: found.strategy.id, version });
  if (held === null || held.createdAt <= createdAt) return { runtime: { slug, version } };
  throw unknownStrategy(
    `${RUNTIME_PATH}/version`,
    `must be the version ${version} of ${slug} that the ${kind} ${id} ran, which was deleted: submit a new ${kind} with ` +
      "the one that was registered since",
  );
}
