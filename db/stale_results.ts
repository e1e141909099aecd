/** Results whose candles were revised since their runs read them. */
import { getTableColumns, type SQL, sql } from "drizzle-orm";
import { backtests, ingestionEvents, instruments } from "./schema.ts";

/**
 * True for a completed record of which a stored candle was revised since the run read it. Candles that were added since do not count,
 * nor those of an instrument that was removed.
 */
export const isStale: SQL<boolean> = sql<
  boolean
>`(${backtests.status} = 'completed' and ${backtests.inputs} is not null and exists (
  select 1
  from jsonb_to_recordset(${backtests.inputs} -> 'series') as read(
    instrument uuid, timeframe text, "from" timestamptz, until timestamptz, "readAt" timestamptz
  )
  join ${instruments} as instrument on instrument.id = read.instrument
  join ${ingestionEvents} as event on event.type = 'revised' and event.symbol = instrument.symbol
    and event.exchange = instrument.exchange and event.timeframe = read.timeframe
    and event.created_at > read."readAt" and event.start < read.until and event."end" > read."from"
))`;

/** A record as it is read: its columns, and whether its result is stale. */
export const BACKTEST_COLUMNS = { ...getTableColumns(backtests), stale: isStale };

/** A record, and whether a candle of its result was revised since. */
export type Backtest = typeof backtests.$inferSelect & { readonly stale: boolean };
