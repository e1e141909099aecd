/** Procedures for looking at a backtest's trades, however many there are: in columns, in any order, in a stretch of time, all at once. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { listTrades } from "../../db/row_pages.ts";
import { readRecord, requireColumn } from "../../db/codec/unreadable.ts";
import type { TradeSpread } from "../../workers/rows/trade_spread.ts";
import { timeMsSchema } from "../common/dates.ts";
import { inputObject } from "../common/input_object.ts";
import { readWhole, turnsOf } from "../common/large_reads.ts";
import { linkedProcedure, type UserContext } from "../common/trpc.ts";
import { idSchema } from "../runs/runs.ts";
import { marketIn, mustGet } from "./owned_backtest.ts";
import { MARKET_LETTERS_MAX } from "./run_chart.ts";
import { readArranged, readFilled, TRADE_OUTCOMES, TRADE_SIDES, TRADE_SORTS, tradeBlocks } from "./trade_order.ts";
import { readSides, sidesSchema } from "./trade_sides.ts";
import { toTradeColumns, tradeColumnsSchema } from "./trade_table.ts";

// A trade in columns, about.
const TRADE_BYTES = 160;
const TRADES_MAX = 50_000;
/** Entries and exits that one answer has. */
export const FILLS_MAX = 2_000;
const instrument = z.string().max(MARKET_LETTERS_MAX).optional();

const tableShape = {
  id: idSchema,
  after: z.int().min(0).default(0),
  limit: z.int().min(1).max(TRADES_MAX).default(TRADES_MAX),
  sort: z.enum(TRADE_SORTS).default("number"),
  order: z.enum(["asc", "desc"]).default("asc"),
  side: z.enum(TRADE_SIDES).default("all"),
  outcome: z.enum(TRADE_OUTCOMES).default("all"),
  instrument,
};
const fillsShape = {
  id: idSchema,
  /** Milliseconds since 1970, both included. */
  from: timeMsSchema,
  until: timeMsSchema.optional(),
  instrument,
};

/** Entries and exits in a stretch of time. */
export const fillsSchema = z.object({
  /** How many there are. */
  fills: z.int(),
  /** The trades that they belong to, oldest first; none where there are more than 2,000 fills. */
  trades: tradeColumnsSchema,
});

/** See TradeSpread of workers/rows/trade_spread.ts. */
export const spreadSchema = z.object({
  trades: z.int(),
  returns: z.object({ low: z.number(), width: z.number(), counts: z.array(z.int()).readonly() }),
  excursions: z.object({
    mae_max: z.number(),
    mfe_max: z.number(),
    mae: z.array(z.number()).readonly(),
    mfe: z.array(z.number()).readonly(),
    won: z.array(z.boolean()).readonly(),
  }),
});

/** How the closed trades of a completed run are spread. */
export async function readSpread(ctx: UserContext, row: Backtest): Promise<TradeSpread> {
  const all = row.result?.metrics["trades"] ?? 0;
  const column = () => new Float64Array(all);
  const closed = { returns: column(), mae: column(), mfe: column(), won: new Uint8Array(all) };
  let found = 0;
  for await (const { columns, count } of tradeBlocks(ctx, row)) {
    readRecord(`trades of the backtest ${row.id}`, () => {
      const stored = (name: string) => requireColumn(columns, name);
      const [exit, pnl, returns] = [stored("exitTime"), stored("pnl"), stored("return")];
      const [mae, mfe] = [stored("mae"), stored("mfe")];
      for (let i = 0; i < count; i++) {
        if (Number.isNaN(exit[i])) continue;
        closed.returns[found] = returns[i]!;
        closed.mae[found] = Math.abs(mae[i]!);
        closed.mfe[found] = Math.abs(mfe[i]!);
        closed.won[found++] = pnl[i]! > 0 ? 1 : 0;
      }
    });
  }
  return await turnsOf(ctx)(() => ctx.rowsWorker.spread(closed));
}

/** The entries and exits of a completed run in a stretch of time. */
export async function readFills(
  ctx: UserContext,
  row: Backtest,
  { from, until, instrument: named }: Omit<z.infer<z.ZodObject<typeof fillsShape>>, "id">,
): Promise<z.infer<typeof fillsSchema>> {
  const market = marketIn(row, named);
  const { trades, fills } = await readFilled(ctx, row, {
    least: from,
    most: until ?? Infinity,
    market,
    fillsMax: FILLS_MAX,
  });
  ctx.answer.take(trades.length * TRADE_BYTES);
  return { fills, trades: toTradeColumns(trades, row) };
}

export const tradeProcedures = {
  /** Metrics of the long and of the short trades of one of the caller's completed backtests. */
  sides: linkedProcedure("backtest", "id")
    .input(inputObject({ id: idSchema }))
    .output(sidesSchema)
    .query(async ({ ctx, input: { id } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await readWhole(ctx, () => readSides(ctx, row));
    }),

  /**
   * Trades of one of the caller's completed backtests in columns, in the order and of the kind asked for: those behind the first `after`,
   * and how many match in all.
   */
  tradeTable: linkedProcedure("backtest", "id")
    .input(inputObject(tableShape))
    .output(tradeColumnsSchema.extend({ matching: z.int() }))
    .query(async ({ ctx, input: { id, after, limit, instrument: named, ...arrangement } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      const market = marketIn(row, named);
      const { sort, order, side, outcome } = arrangement;
      const isPlain = sort === "number" && order === "asc" && side === "all" && outcome === "all";
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        const { trades, matching } = isPlain && market === undefined
          ? { trades: await listPlain(ctx, row, { after, limit }), matching: countTrades(row) }
          : await readArranged(ctx, row, { ...arrangement, market }, { from: after, until: after + limit });
        ctx.answer.take(trades.length * TRADE_BYTES);
        return { ...toTradeColumns(trades, row), matching };
      });
    }),

  /** Entries and exits of one of the caller's completed backtests in a stretch of time. */
  fills: linkedProcedure("backtest", "id")
    .input(inputObject(fillsShape))
    .output(fillsSchema)
    .query(async ({ ctx, input: { id, ...range } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        return await readFills(ctx, row, range);
      });
    }),

  /** The returns and the excursions of all closed trades of one of the caller's completed backtests, to draw. */
  tradeSpread: linkedProcedure("backtest", "id")
    .input(inputObject({ id: idSchema }))
    .output(spreadSchema)
    .query(async ({ ctx, input: { id } }) => {
      const row = await mustGet(ctx.db, id, ctx.user.id);
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        const spread = await readWhole(ctx, () => readSpread(ctx, row));
        ctx.answer.take(spread.excursions.mae.length * TRADE_BYTES / 3);
        return spread;
      });
    }),
};

function listPlain(ctx: UserContext, { id, ownerId }: Backtest, page: { after: number; limit: number }) {
  return turnsOf(ctx)(() =>
    listTrades(ctx.db, { backtestId: id, ownerId, ...page }, (...chunk) => ctx.rowsWorker.cut(...chunk))
  );
}

/** Open ones included. */
function countTrades({ result }: Backtest): number {
  return (result?.metrics["trades"] ?? 0) + (result?.metrics["open_trades"] ?? 0);
}
