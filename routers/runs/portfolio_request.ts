/** The part of a submission that asks for many markets with one account. */
import { z } from "zod";
import type { Member } from "../../db/universes.ts";
import { CODE_MARKETS_MAX, PORTFOLIO_MARKETS_MAX } from "../../engine/portfolio/portfolio.ts";
import { MarketsRefused } from "../../strategies/builtin/portfolio/portfolio_builtin.ts";
import { AppError, pointer, quote, validationFailed } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import type { Parameters } from "../strategies/parameters.ts";
import type { ResolvedStrategy } from "../strategies/resolve_strategy.ts";
import type { UserContext } from "../common/trpc.ts";
import { requireKnown } from "./known_markets.ts";
import { refuseBaseCurrency, requireConvertible } from "./money_request.ts";
import { resolveUniverse } from "../universes/find_universe.ts";
import { memberSchema, requireMembers, universeNameSchema } from "../universes/members.ts";

/** Candles in a request to an endpoint that decides on all markets: some 20 MB. */
const REQUEST_CANDLES_MAX = 200_000;

/** How one account is shared; engine/portfolio/portfolio.ts explains each. */
const portfolioSchema = inputObject({
  positions_max: z.int().min(1).max(PORTFOLIO_MARKETS_MAX).optional(),
  rank: z.enum(["listed", "score"]).default("listed"),
  missing: z.enum(["fail", "skip"]).default("fail"),
});

const requestSchema = z.object({
  instruments: z.array(memberSchema).min(1).max(PORTFOLIO_MARKETS_MAX).nullish(),
  universe: universeNameSchema.nullish(),
  portfolio: portfolioSchema.nullish(),
});

/** The markets of a submission. */
interface SubmittedMarkets {
  readonly parameters: PortfolioParameters;
  /** Of the universe that it names; the run keeps them. */
  readonly members?: readonly Member[];
  /** Markets; absent for a run of one market. */
  readonly count?: number;
}

/** The keys of `parameters` that make a run one of many markets, complete; empty for a run of one market. */
interface PortfolioParameters {
  readonly instruments?: readonly object[];
  /** With its version. */
  readonly universe?: string;
  readonly portfolio?: z.infer<typeof portfolioSchema>;
}

/**
 * Completes the markets of a submission.
 *
 * @param candles Of one market with its inputs, by the range and the timeframe; `asked` as of SubmittedInputs.
 * @throws AppError VALIDATION_FAILED, UNIVERSE_NOT_FOUND, INVALID_PARAMETERS, RANGE_TOO_LARGE
 */
export async function completePortfolio(
  ctx: UserContext,
  strategy: ResolvedStrategy,
  submitted: Parameters,
  { path, candles, asked }: { readonly path: string; readonly candles: number; readonly asked: number },
): Promise<SubmittedMarkets> {
  const { instruments, universe, portfolio } = submitted;
  const parsed = requestSchema.safeParse({ instruments, universe, portfolio });
  if (!parsed.success) throw validationFailed(parsed.error, path);
  const wanted = parsed.data;
  const list = wanted.instruments ?? null;
  const name = wanted.universe ?? null;
  if (list === null && name === null) {
    if (strategy.decidesOnMarkets) {
      throw refuse(`${path}/instruments`, `is required, or a universe: ${strategy.name} decides on many markets`);
    }
    refuseBaseCurrency(submitted, path);
    if ((wanted.portfolio ?? null) === null) return { parameters: {} };
    throw refuse(`${path}/portfolio`, "needs instruments or a universe beside it");
  }
  if (list !== null && name !== null) throw refuse(`${path}/universe`, "and instruments cannot both be given");
  const chosen = wanted.portfolio ?? portfolioSchema.parse({});
  if (chosen.rank === "score") requireScore(strategy, `${path}/portfolio/rank`);
  if (list !== null) {
    const members = requireMembers(list, (index) => `${path}/instruments/${index}`);
    requireCount(strategy, countMarkets(members), { path: `${path}/instruments`, asked });
    requireRoom(ctx, strategy, { markets: countMarkets(members), candles, path: `${path}/instruments` });
    requireNamed(strategy, submitted, members, path);
    if (chosen.missing === "fail") {
      await requireKnown(ctx, members, { at: (index) => `${path}/instruments/${index}`, name: null });
    }
    await requireConvertible(ctx, submitted, members, path);
    return { parameters: { instruments: members, portfolio: chosen }, count: countMarkets(members) };
  }
  const found = await resolveUniverse(ctx, name ?? "");
  const markets = countMarkets(found.members);
  if (markets > PORTFOLIO_MARKETS_MAX) {
    const message = `must have at most ${PORTFOLIO_MARKETS_MAX} instruments, and ${quote(name)} has ${markets}`;
    throw refuse(`${path}/universe`, message);
  }
  requireCount(strategy, markets, { path: `${path}/universe`, asked });
  requireRoom(ctx, strategy, { markets, candles, path: `${path}/universe` });
  requireNamed(strategy, submitted, found.members, path);
  if (chosen.missing === "fail") {
    await requireKnown(ctx, found.members, { at: () => `${path}/universe`, name: `${found.slug}@${found.version}` });
  }
  await requireConvertible(ctx, submitted, found.members, path);
  return {
    parameters: { universe: `${found.slug}@${found.version}`, portfolio: chosen },
    members: found.members,
    count: markets,
  };
}

/** @throws AppError for a run that has no meaning over many markets. @param what As in "an optimization". */
export function requireOneMarket(parameters: Parameters, path: string, what: string): void {
  refuseBaseCurrency(parameters, path);
  for (const name of ["instruments", "universe", "portfolio"] as const) {
    if ((parameters[name] ?? null) === null) continue;
    throw refuse(`${path}${pointer([name])}`, `cannot be given for ${what}: it runs over one market`);
  }
}

function countMarkets(members: readonly { readonly symbol: string; readonly exchange: string }[]): number {
  return new Set(members.map(({ symbol, exchange }) => JSON.stringify([symbol, exchange]))).size;
}

/** Scripts and modules of one market may have a score, which their runs find out. */
function requireScore({ name, runtime, decidesOnMarkets }: ResolvedStrategy, path: string): void {
  if (decidesOnMarkets) throw refuse(path, `must be listed: ${name} decides on all markets at once`);
  if (runtime !== null && runtime.type !== "remote") return;
  const reason = runtime === null
    ? "gives no score, which scripts and modules may have"
    : "is an endpoint, which is asked for decisions and not for scores: one of mode portfolio ranks by itself";
  throw refuse(path, `must be listed: ${name} ${reason}`);
}

/** A portfolio strategy has its own limits: pairs are two. Code of one market has an instance for each. */
function requireCount(
  { name, portfolioBuiltin, runtime, decidesOnMarkets }: ResolvedStrategy,
  markets: number,
  { path, asked }: { readonly path: string; readonly asked: number },
): void {
  const hasInstances = runtime !== null && runtime.type !== "remote" && !decidesOnMarkets;
  if (hasInstances && markets > CODE_MARKETS_MAX) {
    throw refuse(
      path,
      `must name at most ${CODE_MARKETS_MAX} instruments for ${name}, not ${markets}: it has an instance for each in ` +
        `one process; code that decides on all markets at once takes ${PORTFOLIO_MARKETS_MAX}`,
    );
  }
  if (runtime?.type === "remote" && runtime.mode === "portfolio") {
    const each = runtime.lookbackCandles + 1 + asked;
    const candles = markets * each;
    if (candles > REQUEST_CANDLES_MAX) {
      throw refuse(
        path,
        `must make requests of at most ${REQUEST_CANDLES_MAX} candles: ${markets} instruments of ${each} candles are ` +
          `${candles}; choose fewer instruments or a smaller lookbackCandles`,
      );
    }
  }
  if (portfolioBuiltin === null) return;
  const { min, max } = portfolioBuiltin.instruments;
  if (markets >= min && markets <= (max ?? PORTFOLIO_MARKETS_MAX)) return;
  const range = max === null ? `at least ${min}` : max === min ? `${min}` : `${min} to ${max}`;
  throw refuse(path, `must name ${range} instruments for ${name}, not ${markets}`);
}

/** @throws AppError where parameters name instruments that are not in the run. */
function requireNamed(
  { portfolioBuiltin }: ResolvedStrategy,
  submitted: Parameters,
  members: readonly Pick<Member, "symbol" | "exchange">[],
  path: string,
): void {
  const ids = new Map(members.map(({ symbol, exchange }) => [`${symbol}@${exchange}`, symbol]));
  const markets = Array.from(ids, ([id, symbol]) => ({ id, symbol }));
  try {
    portfolioBuiltin?.requireMarkets?.(submitted, markets);
  } catch (error) {
    if (error instanceof MarketsRefused) throw refuse(`${path}/${error.parameter}`, error.message);
    throw error;
  }
}

/** A run costs its instruments times their candles. */
function requireRoom(
  { runCandlesMax }: UserContext,
  { runtime }: ResolvedStrategy,
  { markets, candles, path }: { readonly markets: number; readonly candles: number; readonly path: string },
): void {
  // Days of many instruments are short beside minutes of one: the limit of one run is that of all its candles, ten times. A process of
  // foreign code has them all at once.
  const most = runtime === null ? runCandlesMax * 10 : runCandlesMax;
  if (markets * candles <= most) return;
  const message = `must make at most ${most} candles: ${markets} instruments of ${candles} candles are ${
    markets * candles
  }; shorten the range, choose a coarser timeframe or fewer instruments`;
  throw new AppError("RANGE_TOO_LARGE", `Cannot run over so many candles: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

function refuse(path: string, message: string): AppError {
  return new AppError("INVALID_PARAMETERS", `Cannot run over many markets: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
