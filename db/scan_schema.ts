/** The markets of an optimization over many of them. */
import { integer, json, pgTable, primaryKey, text, uuid } from "drizzle-orm/pg-core";
import { optimizations } from "./optimization_schema.ts";

/** A market of a scan; its symbol and exchange stand in the axis of the space. */
export const scanMarkets = pgTable("scan_markets", {
  optimizationId: uuid("optimization_id").notNull().references(() => optimizations.id, { onDelete: "cascade" }),
  /** The market's place on the axis, from 0. */
  market: integer("market").notNull(),
  symbol: text("symbol").notNull(),
  exchange: text("exchange").notNull(),
  /** The dates of its trials: those of the optimization, as far as it is a member. */
  startDate: text("start_date").notNull(),
  endDate: text("end_date").notNull(),
  /** Of its candles: all its trials run over the same. Null until its first slice has read them. */
  dataSha256: text("data_sha256"),
  /** The days of its trials' daily returns: the first one since 1970, then the days from each to the next. */
  days: json("days").$type<readonly number[]>(),
}, (table) => [primaryKey({ columns: [table.optimizationId, table.market] })]);
