import {
  and,
  arrayContains,
  asc,
  desc,
  eq,
  gt,
  gte,
  ilike,
  isNotNull,
  isNull,
  lt,
  not,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";
import type { Backtest } from "./backtests.ts";
import type { RunStatus } from "./runs.ts";
import type { Db } from "./client.ts";
import { backtests } from "./schema.ts";
import { BACKTEST_COLUMNS } from "./stale_results.ts";

/** The columns by which a list can be sorted, besides the creation. */
const SORT_COLUMNS = {
  return: backtests.totalReturn,
  sharpe: backtests.sharpe,
  drawdown: backtests.maxDrawdown,
} as const;

/** The orders of a list: by creation, or by a metric. */
export const BACKTEST_SORTS = ["created", "return", "sharpe", "drawdown"] as const satisfies readonly (
  | keyof typeof SORT_COLUMNS
  | "created"
)[];
export type BacktestSort = (typeof BACKTEST_SORTS)[number];
export const SORT_ORDERS = ["desc", "asc"] as const;

/** The place of a record in an order: its metric (null in an order by creation) and its id. */
export interface BacktestPlace {
  readonly value: number | null;
  readonly id: string;
}

/** The records of one user that a list shows. Times are milliseconds since 1970, from `createdFrom` to before `createdTo`. */
interface BacktestFilters {
  readonly ownerId: string;
  readonly status?: RunStatus | undefined;
  readonly strategy?: string | undefined;
  readonly symbol?: string | undefined;
  readonly exchange?: string | undefined;
  readonly tag?: string | undefined;
  /** Records with it are left out. */
  readonly notTag?: string | undefined;
  readonly starred?: boolean | undefined;
  readonly createdFrom?: number | undefined;
  readonly createdTo?: number | undefined;
  /** Part of the name, the strategy, the symbol or the notes, in any case. */
  readonly search?: string | undefined;
}

/** A page of a list: at most `limit` records after the one at a place. */
export interface BacktestsPage extends BacktestFilters {
  readonly sort?: BacktestSort | undefined;
  readonly order?: (typeof SORT_ORDERS)[number] | undefined;
  readonly after?: BacktestPlace | undefined;
  readonly limit: number;
}

/** Reads a page of a user's records; see readPage() for the order. */
export async function listBacktests(db: Db, page: BacktestsPage): Promise<Backtest[]> {
  return await readPage(
    page,
    (where, order, limit) => db.select(BACKTEST_COLUMNS).from(backtests).where(where).orderBy(...order).limit(limit),
  );
}

const { parameters: _parameters, result: _result, runtime: _runtime, notes: _notes, inputs: _inputs, ...SHORT } =
  BACKTEST_COLUMNS;

// Longer values, and further ones, would fill a list.
const SETTINGS_MAX = 24;
const SETTING_LETTERS_MAX = 60;

/** A parameter that is a number, a short text or a switch. */
export type Setting = number | string | boolean;

/** The first parameters that are settings, as SETTINGS reads them from a record. */
export function shortSettings(parameters: Readonly<Record<string, unknown>>): Readonly<Record<string, Setting>> {
  const isShort = (name: string, value: Setting) => name.length + JSON.stringify(value).length <= SETTING_LETTERS_MAX;
  const settings = Object.entries(parameters).flatMap(([name, value]) =>
    (typeof value === "number" || typeof value === "string" || typeof value === "boolean") && isShort(name, value)
      ? [[name, value] as const]
      : []
  );
  return Object.fromEntries(settings.slice(0, SETTINGS_MAX));
}

/** The same in SQL, so that a list reads no long parameters. */
const SETTINGS = sql<Readonly<Record<string, Setting>>>`coalesce((
  select jsonb_object_agg(few.key, few.value) from (
    select each.key, each.value from jsonb_each(
      case jsonb_typeof(${backtests.parameters}) when 'object' then ${backtests.parameters} else '{}'::jsonb end
    ) each
    where jsonb_typeof(each.value) in ('number', 'string', 'boolean')
      and length(each.key) + length(each.value::text) <= ${SETTING_LETTERS_MAX}
    limit ${SETTINGS_MAX}
  ) few
), '{}'::jsonb)`;

/** A record without its parameters, notes and result; of these the timeframe, short settings and a few metrics. */
export type BacktestSummary = Awaited<ReturnType<typeof listBacktestSummaries>>[number];

/** Reads a page of a user's records, each in a few hundred bytes. */
export async function listBacktestSummaries(db: Db, page: BacktestsPage) {
  const timeframe = sql<string | null>`${backtests.parameters} ->> 'timeframe'`;
  const columns = { ...SHORT, timeframe, settings: SETTINGS };
  return await readPage(
    page,
    (where, order, limit) => db.select(columns).from(backtests).where(where).orderBy(...order).limit(limit),
  );
}

// Only the newest records of a user are looked through, however many there are.
const NEWEST_MAX = 10_000;
const VALUES_MAX = 200;

/** The strategies, symbols and tags of a user's newest records, each once and in order; the first 200 of each. */
export async function listFilterValues(db: Db, ownerId: string) {
  const newest = db.select({ strategy: backtests.strategy, symbol: backtests.symbol, tags: backtests.tags })
    .from(backtests).where(eq(backtests.ownerId, ownerId)).orderBy(desc(backtests.id)).limit(NEWEST_MAX).as("newest");
  const distinct = async (value: SQL<string>) => {
    const rows = await db.selectDistinct({ value: value.as("value") }).from(newest).orderBy(sql`value`).limit(
      VALUES_MAX,
    );
    return rows.map((row) => row.value);
  };
  return {
    strategies: await distinct(sql<string>`${newest.strategy}`),
    symbols: await distinct(sql<string>`${newest.symbol}`),
    tags: await distinct(sql<string>`unnest(${newest.tags})`),
  };
}

/** The place of a record in a list. */
export function placeOf(
  { id, totalReturn, sharpe, maxDrawdown }: Pick<Backtest, "id" | "totalReturn" | "sharpe" | "maxDrawdown">,
  sort: BacktestSort,
): BacktestPlace {
  const values = { created: null, return: totalReturn, sharpe, drawdown: maxDrawdown };
  return { value: values[sort], id };
}

type Read<Row> = (where: SQL | undefined, order: readonly SQL[], limit: number) => Promise<Row[]>;

/**
 * Reads a page in its order. Equal metrics are in the order of their ids. Records without the metric come last in either direction: they
 * are read by a statement of their own, so that each statement follows an index.
 */
async function readPage<Row>(
  { sort = "created", order = "desc", after, limit, ...filters }: BacktestsPage,
  read: Read<Row>,
): Promise<Row[]> {
  const [beyond, arrange] = order === "desc" ? [lt, desc] : [gt, asc];
  const found = matches(filters);
  const beyondId = after === undefined ? undefined : beyond(backtests.id, after.id);
  if (sort === "created") return await read(and(found, beyondId), [arrange(backtests.id)], limit);
  const column = SORT_COLUMNS[sort];
  const arranged = [arrange(column), arrange(backtests.id)];
  const isBehindValues = after !== undefined && after.value === null;
  const beyondPlace = after === undefined || after.value === null
    ? isNotNull(column)
    : order === "desc"
    ? sql`(${column}, ${backtests.id}) < (${after.value}, ${after.id})`
    : sql`(${column}, ${backtests.id}) > (${after.value}, ${after.id})`;
  const rows = isBehindValues ? [] : await read(and(found, beyondPlace), arranged, limit);
  if (rows.length === limit) return rows;
  const rest = and(found, isNull(column), isBehindValues ? beyondId : undefined);
  return [...rows, ...await read(rest, arranged, limit - rows.length)];
}

function matches(filters: BacktestFilters): SQL | undefined {
  const { status, strategy, symbol, exchange, tag, notTag, starred, createdFrom, createdTo, search } = filters;
  const when = <T>(value: T | undefined, condition: (value: T) => SQL | undefined) =>
    value === undefined ? undefined : condition(value);
  return and(
    eq(backtests.ownerId, filters.ownerId),
    when(status, (value) => eq(backtests.status, value)),
    when(strategy, (value) => eq(backtests.strategy, value)),
    when(symbol, (value) => eq(backtests.symbol, value)),
    when(exchange, (value) => eq(backtests.exchange, value)),
    // The index holds tagged records alone, and the planner cannot infer that from the tag.
    when(tag, (value) => and(arrayContains(backtests.tags, [value]), sql`${backtests.tags} <> '{}'`)),
    when(notTag, (value) => not(arrayContains(backtests.tags, [value]))),
    when(starred, (value) => value ? sql`${backtests.star}` : sql`not ${backtests.star}`),
    when(
      createdFrom,
      (value) => and(gte(backtests.createdAt, new Date(value)), gte(backtests.id, idAt(value - SKEW_MS))),
    ),
    when(createdTo, (value) => and(lt(backtests.createdAt, new Date(value)), lt(backtests.id, idAt(value + SKEW_MS)))),
    when(search, containsText),
  );
}

// An id holds the time by the clock of the process, `created_at` that of the database. The index of ids finds the days.
const SKEW_MS = 86_400_000;

/** The least id of a moment. */
function idAt(timeMs: number): string {
  return uuidv7({ msecs: Math.max(0, timeMs), seq: 0, random: new Uint8Array(16) });
}

function containsText(search: string): SQL | undefined {
  const pattern = `%${search.replace(/[\\%_]/g, "\\$&")}%`;
  return or(...[backtests.name, backtests.strategy, backtests.symbol, backtests.notes]
    .map((column) => ilike(column, pattern)));
}
