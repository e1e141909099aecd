/** The candles of a run over many markets. */
import { readRunMembers } from "../../db/run_members.ts";
import type { ReadSeries } from "../../db/result_inputs.ts";
import { findUniverse, type Member, readMembers } from "../../db/universes.ts";
import type { Membership, PortfolioMarket, RateColumns } from "../../engine/portfolio/portfolio.ts";
import { daysOf, isFed } from "../../market/archive/made_candles.ts";
import { groupByDayOnce } from "../../market/calendar/group_by_day.ts";
import { sessionWith } from "../../market/calendar/exchange_sessions.ts";
import { findUnknown } from "../../market/on_demand/unknown_targets.ts";
import { candleEnd, isCoarser, shortestMs } from "../../market/timeframes.ts";
import { instantsOf } from "../backtest/trading_instants.ts";
import { type FailureCode, RunError } from "../common/outcome.ts";
import type { CandlesRecord } from "../backtest/candles_record.ts";
import { type CandleServices, loadCandles, type MarketData } from "../backtest/run_candles.ts";
import type { MarketSettings, RunSettings } from "../backtest/run_settings.ts";
import { type LoadedRate, toRateColumns } from "./load_rates.ts";

/** No moment is later. JSON has no Infinity. */
const MOMENT_MS_MAX = 8.64e15;
// Markets that are loaded at once share statements, and hold their candles twice until each is complete.
const CANDLES_AT_ONCE = 2_097_152;
// Each asks its provider for what the archive lacks.
const FETCHED_AT_ONCE = 8;
// The number of instruments that a message names.
const NAMED_MAX = 10;
/** Failures for which "skip" leaves a market out: nothing is held, or no provider has it. */
const MISSING: readonly FailureCode[] = ["NO_DATA"];

/** A market with what is known of its candles. */
interface LoadedMarket {
  readonly id: string;
  readonly memberships: readonly Member[];
  readonly data: MarketData;
}

/** The markets of a run, in the order in which they were listed. */
export interface LoadedMarkets {
  readonly markets: readonly LoadedMarket[];
  /** Ids of those without candles. */
  readonly missing: readonly string[];
}

/**
 * Loads the candles of all markets of a run.
 *
 * @param lookback Candles that the strategy needs before the start date.
 * @throws {RunError} NO_DATA with the instruments that have none, unless the run skips them; as loadCandles().
 */
export async function loadMarkets(
  services: CandleServices,
  record: CandlesRecord & { readonly id: string; readonly ownerId: string },
  settings: RunSettings,
  { markets: wanted, lookback }: { readonly markets: MarketSettings; readonly lookback: number },
): Promise<LoadedMarkets> {
  const groups = groupByInstrument(await findMembers(services, record, wanted.members), record);
  const unknown = new Set(await findUnknown(services.db, services.readThrough.feeds, groups));
  const known = groups.filter((group) => !unknown.has(group));
  const loaded = new Map<Group, LoadedMarket | RunError>();
  const load = async (group: Group) =>
    void loaded.set(group, await loadMarket(services, { record, settings, lookback }, group));
  const instruments = await Promise.all(known.map((group) => services.candles.findInstrument(group)));
  const isHeld = (_group: Group, n: number) => instruments[n] !== undefined && !isFed(instruments[n]);
  await inTurns(known.filter(isHeld), loadedAtOnce(record, settings), load);
  await inTurns(known.filter((group, n) => !isHeld(group, n)), FETCHED_AT_ONCE, load);
  const markets = groups.flatMap((group) => {
    const market = loaded.get(group);
    return market === undefined || market instanceof RunError ? [] : [market];
  });
  const lacking = groups.filter((group) => unknown.has(group) || loaded.get(group) instanceof RunError);
  const missing = lacking.map(({ id }) => id);
  const [first] = lacking;
  if (first !== undefined && (!wanted.skipsMissing || markets.length === 0)) {
    // One that is unknown is looked up now, for the reason.
    if (unknown.has(first)) await load(first);
    const reason = loaded.get(first);
    const words = reason instanceof RunError ? reason.outcome.message : `Cannot run on ${first.id} without candles`;
    const others = missing.length > 1 ? `; without candles, too: ${name(missing.slice(1))}` : "";
    throw new RunError("NO_DATA", `${words}${others}`);
  }
  return { markets, missing };
}

/** The number of markets that have CANDLES_AT_ONCE candles together, guessed from the range. */
function loadedAtOnce({ startDate, endDate }: CandlesRecord, { timeframe }: RunSettings): number {
  const candles = (toMs(endDate) - toMs(startDate)) / shortestMs(timeframe);
  return Math.max(1, Math.floor(CANDLES_AT_ONCE / candles));
}

async function inTurns<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let begin = 0; begin < items.length; begin += atOnce) {
    await Promise.all(items.slice(begin, begin + atOnce).map(work));
  }
}

/** Some of a list of ids, in words. */
export function name(ids: readonly string[]): string {
  const rest = ids.length - NAMED_MAX;
  return ids.slice(0, NAMED_MAX).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

async function findMembers(
  { db }: CandleServices,
  { id, ownerId }: { readonly id: string; readonly ownerId: string },
  members: MarketSettings["members"],
): Promise<readonly Member[]> {
  if (typeof members !== "string") return members;
  const kept = await readRunMembers(db, id);
  if (kept !== null) return kept;
  // A run from before members were kept has the name alone.
  const [slug = "", version = ""] = members.split("@");
  const found = await findUniverse(db, { slug, userId: ownerId });
  const rows = found && await readMembers(db, found.universe.id, Number(version));
  if (rows !== null) return rows;
  throw new RunError(
    "NO_DATA",
    `Cannot find the universe ${members}: it was deleted or made private since the submission`,
  );
}

interface Group {
  readonly id: string;
  readonly symbol: string;
  readonly exchange: string;
  readonly memberships: Member[];
}

/** One group an instrument that is a member within the range, in the order in which they are listed. */
function groupByInstrument(members: readonly Member[], { startDate, endDate }: CandlesRecord): Group[] {
  const groups = new Map<string, Group>();
  for (const member of members) {
    const { symbol, exchange, from, to } = member;
    if ((from !== null && from >= endDate) || (to !== null && to <= startDate)) continue;
    const id = `${symbol}@${exchange}`;
    const group = groups.get(id) ?? { id, symbol, exchange, memberships: [] };
    group.memberships.push(member);
    groups.set(id, group);
  }
  if (groups.size > 0) return [...groups.values()];
  throw new RunError(
    "NO_DATA",
    `Cannot run without a market: no instrument is a member from ${startDate} to ${endDate}`,
  );
}

async function loadMarket(
  services: CandleServices,
  { record, settings, lookback }: {
    readonly record: CandlesRecord;
    readonly settings: RunSettings;
    readonly lookback: number;
  },
  { id, symbol, exchange, memberships }: Group,
): Promise<LoadedMarket | RunError> {
  // The benchmark is loaded once, for all.
  const own = { ...settings, execution: { ...settings.execution, benchmark: null } };
  try {
    const data = await loadCandles(services, { ...record, symbol, exchange }, own, lookback);
    return { id, memberships, data };
  } catch (error) {
    if (error instanceof RunError && error.outcome.type === "failed" && MISSING.includes(error.outcome.code)) {
      return error;
    }
    throw error;
  }
}

/** The markets, and the rates of their currencies, as the engine takes them. */
export function toEngineMarkets(
  markets: readonly LoadedMarket[],
  rates: readonly LoadedRate[],
  settings: RunSettings,
  { endDate }: CandlesRecord,
): { readonly markets: PortfolioMarket[]; readonly currencies?: RateColumns[] } {
  const { timeframe, hours } = settings;
  const instruments = [...markets.map(({ data }) => data.instrument), ...rates.map(({ instrument }) => instrument)];
  const sessions = new Set(instruments.map((instrument) => JSON.stringify(sessionWith(instrument, hours))));
  const rowOf = new Map(rates.map(({ currency }, row) => [currency, row]));
  const toMarket = ({ id, memberships, data }: LoadedMarket): PortfolioMarket => {
    const { instrument, read: { candles, lookback }, finer, inputs } = data;
    const currency = rowOf.get(instrument.currency ?? "");
    const lastClose = candleEnd(candles.time.at(-1)!, timeframe);
    const to = memberships.at(-1)?.to ?? null;
    const isPeriod = isCoarser(timeframe, "1d");
    return {
      id,
      symbol: instrument.symbol,
      exchange: instrument.exchange,
      candles,
      firstIndex: lookback,
      hours: sessions.size > 1 ? instantsOf(instrument, candles.time, { timeframe, hours }) : null,
      memberships: toMemberships(memberships),
      isDelisted: to !== null && lastClose <= toMs(to) && lastClose < toMs(endDate),
      tradingDays: isPeriod ? null : groupByDayOnce(daysOf(instrument, timeframe, hours), candles.time),
      finer: finer?.candles ?? null,
      ...(inputs.length === 0 ? {} : { inputs: inputs.map(({ aligned }) => aligned) }),
      ...(currency === undefined ? {} : { currency }),
    };
  };
  const all = { markets: markets.map(toMarket) };
  if (rates.length === 0) return all;
  return { ...all, currencies: rates.map((rate) => toRateColumns(rate, settings, sessions.size === 1)) };
}

/** Null for an instrument that is always a member. */
function toMemberships(members: readonly Member[]): Membership[] | null {
  if (members.some(({ from, to }) => from === null && to === null)) return null;
  return members.map(({ from, to }) => ({
    from: from === null ? -MOMENT_MS_MAX : toMs(from),
    until: to === null ? MOMENT_MS_MAX : toMs(to),
  })).toSorted((one, two) => one.from - two.from);
}

function toMs(date: string): number {
  return Date.parse(`${date}T00:00:00Z`);
}

/** The stored candles of which the run is made. */
export function seriesOf(markets: readonly LoadedMarket[]): ReadSeries[] {
  return markets.flatMap(({ data }) => data.series);
}
