import type { Db } from "../../db/client.ts";
import { listStrategyNames, listVersions } from "../../db/strategies.ts";
import { hintNames } from "../../market/nearest_name.ts";
import { BUILTIN_DESCRIPTIONS } from "../../strategies/builtin/catalogue/descriptions.ts";
import { AppError, hintNearest, quote } from "../common/errors.ts";
import type { User } from "../common/trpc.ts";

/** JSON pointers of a submitted backtest. */
export const NAME_PATH = "/backtest/strategy";
export const RUNTIME_PATH = "/backtest/parameters/runtime";

// A wrong name must not cost much.
const NAMES_MAX = 500;
const VERSIONS_MAX = 50;

interface Asking {
  readonly db: Db;
  readonly user: User;
}

/** The refusal of a strategy that is not found: nothing is run. */
export function unknownStrategy(path: string, message: string): AppError {
  return new AppError("UNKNOWN_STRATEGY", `Cannot find the strategy: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

/** The refusal of a display name that no visible strategy has. */
export async function unknownName(ctx: Asking, name: string): Promise<AppError> {
  const known = (await listKnown(ctx)).flatMap((each) => [each.name, each.slug]);
  return unknownStrategy(
    NAME_PATH,
    `must be the name or the slug of a strategy in the catalogue, not ${quote(name)}${hintNames(name, known)}`,
  );
}

/** The refusal of a slug that no visible strategy has. */
export async function unknownSlug(ctx: Asking, slug: string): Promise<AppError> {
  const path = `${RUNTIME_PATH}/slug`;
  const rule = `must be a slug in the catalogue, not ${quote(slug)}`;
  const known = await listKnown(ctx);
  const named = known.find(({ name }) => name === slug);
  if (named !== undefined) return unknownStrategy(path, `${rule}: the slug of that name is ${quote(named.slug)}`);
  return unknownStrategy(path, rule + hintNames(slug, known.map((each) => each.slug)));
}

/** The refusal of a slug by which a strategy is read or changed, with the nearest one, or one that begins so. */
export async function strategyNotFound(ctx: Asking, slug: string): Promise<AppError> {
  const slugs = (await listKnown(ctx)).map((each) => each.slug);
  const begun = slugs.find((each) => each.startsWith(`${slug}-`));
  const hint = begun === undefined ? hintNearest(slug, slugs) : `: did you mean ${begun}?`;
  return new AppError("STRATEGY_NOT_FOUND", `Cannot find the strategy ${quote(slug)}${hint}`);
}

/** The refusal of a version that a strategy does not have. */
export async function unknownVersion(
  db: Db,
  { id: strategyId, slug }: { readonly id: string; readonly slug: string },
  version: string,
): Promise<AppError> {
  const newest = await listVersions(db, { strategyId, limit: VERSIONS_MAX });
  const hint = hintNames(version, newest.map((each) => each.version));
  return unknownStrategy(`${RUNTIME_PATH}/version`, `must be a version of ${slug}, not ${quote(version)}${hint}`);
}

async function listKnown({ db, user }: Asking): Promise<readonly { readonly name: string; readonly slug: string }[]> {
  return [...BUILTIN_DESCRIPTIONS, ...await listStrategyNames(db, { userId: user.id, limit: NAMES_MAX })];
}
