/** The part of an optimization that asks the same of many markets. */
import { z } from "zod";
import { type NewScanMarket, SCAN_MARKET_BYTES } from "../../db/scan_markets.ts";
import type { Scan } from "../../db/schema.ts";
import type { Member } from "../../db/universes.ts";
import { PORTFOLIO_MARKETS_MAX } from "../../engine/portfolio/portfolio.ts";
import { MARKET_AXIS } from "../../research/market_axis.ts";
import { AppError, quote } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import type { UserContext } from "../common/trpc.ts";
import { requireKnown } from "../runs/known_markets.ts";
import type { Parameters } from "../strategies/parameters.ts";
import { resolveUniverse } from "../universes/find_universe.ts";
import { memberSchema, requireMembers, universeNameSchema } from "../universes/members.ts";

export const SCAN_PATH = "/optimization/markets";
// As many candles as the default number of trials over the longest range of one market.
const TRIALS = 10_000;

/** The markets of a scan, as a client submits them. */
export const scanRequestSchema = inputObject({
  instruments: z.array(memberSchema).min(1).max(PORTFOLIO_MARKETS_MAX).optional().describe(
    "1 to 1,000 instruments, each with the dates between which it is a member, if any. Here or as a `universe`.",
  ),
  universe: universeNameSchema.optional().describe("A list by its name, as in `us-large` or `us-large@3`."),
  missing: z.enum(["fail", "skip"]).default("fail").describe(
    "`fail`: an instrument without candles ends the optimization. `skip`: it ends its own trials.",
  ),
});

/** The markets of an optimization, checked. */
export interface SubmittedScan {
  readonly scan: Scan;
  readonly markets: readonly NewScanMarket[];
  /** Markets as in `SPY@ARCA`, in the order of the markets. */
  readonly ids: readonly string[];
  readonly sizeBytes: number;
}

interface ScanRequest {
  readonly markets?: z.infer<typeof scanRequestSchema> | undefined;
  readonly start_date: string;
  readonly end_date: string;
  readonly method: string;
  readonly walk_forward?: object | undefined;
  readonly space?: Parameters | undefined;
  readonly parameters: Parameters;
}

/**
 * Reads the markets of a request.
 *
 * @returns Null for an optimization over one market.
 * @throws AppError VALIDATION_FAILED, UNIVERSE_NOT_FOUND
 */
export async function readScan(ctx: UserContext, request: ScanRequest): Promise<SubmittedScan | null> {
  const { markets: wanted, method, walk_forward: walk, space = {}, parameters } = request;
  if (wanted === undefined) return null;
  if (method === "tpe") {
    throw refuse("/optimization/method", "cannot be tpe with markets: it searches one market; use grid or random");
  }
  if (walk !== undefined) {
    throw refuse("/optimization/walk_forward", "cannot stand beside markets: its windows are those of one account");
  }
  if (Object.hasOwn(space, MARKET_AXIS) || Object.hasOwn(parameters, MARKET_AXIS)) {
    throw refuse(SCAN_PATH, `cannot stand beside a parameter named ${MARKET_AXIS}: that is the axis of the markets`);
  }
  const { instruments, universe, missing } = wanted;
  if ((instruments === undefined) === (universe === undefined)) {
    throw refuse(`${SCAN_PATH}/instruments`, "is required, or universe in its place, and not both");
  }
  const found = universe === undefined ? null : await resolveUniverse(ctx, universe);
  const members = found?.members ?? requireMembers(instruments ?? [], (index) => `${SCAN_PATH}/instruments/${index}`);
  const { markets, leftOut } = toMarkets(members, request);
  const path = `${SCAN_PATH}/${universe === undefined ? "instruments" : "universe"}`;
  if (markets.size === 0) {
    throw refuse(path, `has no member between ${request.start_date} and ${request.end_date}`);
  }
  if (markets.size > PORTFOLIO_MARKETS_MAX) {
    throw refuse(
      path,
      `must have at most ${PORTFOLIO_MARKETS_MAX} instruments, and ${quote(universe)} has ${markets.size}`,
    );
  }
  if (missing === "fail") {
    const name = found === null ? null : `${found.slug}@${found.version}`;
    const at = (index: number) => name === null ? `${path}/${index}` : path;
    await requireKnown(ctx, members, { at, name, setting: "markets.missing" });
  }
  return {
    scan: {
      universe: found === null ? null : `${found.slug}@${found.version}`,
      skipsMissing: missing === "skip",
      leftOut,
    },
    markets: [...markets.values()],
    ids: [...markets.keys()],
    sizeBytes: markets.size * SCAN_MARKET_BYTES + JSON.stringify(leftOut).length,
  };
}

/** One market an instrument, from its first day as a member to its last, and those that are none within the range. */
function toMarkets(members: readonly Member[], { start_date: start, end_date: end }: ScanRequest) {
  const markets = new Map<string, NewScanMarket>();
  const others = new Set<string>();
  for (const { symbol, exchange, from, to } of members) {
    const id = `${symbol}@${exchange}`;
    const startDate = from === null || from < start ? start : from;
    const endDate = to === null || to > end ? end : to;
    if (startDate >= endDate) {
      others.add(id);
      continue;
    }
    const known = markets.get(id);
    markets.set(id, {
      symbol,
      exchange,
      startDate: known !== undefined && known.startDate < startDate ? known.startDate : startDate,
      endDate: known !== undefined && known.endDate > endDate ? known.endDate : endDate,
    });
  }
  return { markets, leftOut: [...others].filter((id) => !markets.has(id)) };
}

/**
 * Refuses an optimization over many markets, dates or timeframes that costs too much, before anything begins.
 *
 * @param cost `points`: of one market, of one account, or of one range; `each`: how many of those there are; `candles`: the
 *   most of one; `path`: where they stand.
 * @throws AppError RANGE_TOO_LARGE
 */
export function requireTrialsRoom(
  { runCandlesMax }: UserContext,
  { points, trainings = 1, each, what, candles, path }: {
    readonly points: number;
    /** How many times walk-forward windows go through the range; absent: once. */
    readonly trainings?: number;
    readonly each: number;
    readonly what: "markets" | "ranges";
    readonly candles: number;
    readonly path: string;
  },
): void {
  const most = runCandlesMax * TRIALS;
  const wanted = Math.ceil(points * trainings * each * candles);
  if (wanted <= most) return;
  const message = `must make at most ${most} candles: ${points} points in ${each} ${what} of ${candles} candles` +
    `${
      trainings > 1 ? `, ${trainings.toFixed(1)} times in walk-forward windows,` : ""
    } are ${wanted}; take fewer points or ${what}, a shorter range or a coarser timeframe`;
  throw new AppError("RANGE_TOO_LARGE", `Cannot run over so many candles: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}

function refuse(path: string, message: string): AppError {
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
