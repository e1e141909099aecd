/** Runs a backtest again, and says where two results differ. */
import { z } from "zod";
import { backtestSchema, toBacktest } from "./backtest_records.ts";
import { orderList, tradeList } from "./row_lists.ts";
import { submitBacktest } from "./backtest_submission.ts";
import { sameStrategy } from "../strategies/same_strategy.ts";
import { inputObject } from "../common/input_object.ts";
import { readLarge } from "../common/large_reads.ts";
import { idSchema } from "../runs/runs.ts";
import { type CompletedBacktest, marketsOf, mustGet, requireCompleted } from "./owned_backtest.ts";
import type { List } from "../common/paging.ts";
import { type Context, userProcedure } from "../common/trpc.ts";
import { sameMembers } from "../universes/same_members.ts";

// A trade or an order takes about as long to read and compare as this many candles.
const ROW_CANDLES = 5;

const valueSchema = z.union([z.string(), z.number(), z.boolean()]).nullable();

/** The first place where two results differ; a value is null where one of them has no such row. */
const differenceSchema = z.object({
  in: z.enum(["metrics", "trades", "orders"]),
  /** Of the trade or order. */
  number: z.int().nullable(),
  field: z.string(),
  value: valueSchema,
  other: valueSchema,
});
type Difference = z.infer<typeof differenceSchema>;

const comparisonSchema = z.object({
  equal: z.boolean(),
  /** False where the candles were revised between the runs, or the ranges differ. */
  same_data: z.boolean(),
  same_engine: z.boolean(),
  difference: differenceSchema.nullable(),
});

export const verificationProcedures = {
  /** Submits one of the caller's completed backtests again, with the settings of its record. */
  verify: userProcedure
    .input(inputObject({ id: idSchema }))
    .output(z.object({ backtest: backtestSchema }))
    .mutation(async ({ ctx, input: { id } }) => {
      const row = requireCompleted(await mustGet(ctx.db, id, ctx.user.id), "verify");
      const { symbol, exchange, strategy, startDate, endDate, initialBalance, parameters } = row;
      const markets = await sameMembers(ctx, row);
      const same = { ...parameters, ...markets, ...await sameStrategy(ctx, row, "backtest") };
      const request = { symbol, exchange, strategy, parameters: same, initial_balance: initialBalance };
      const again = await submitBacktest(ctx, { ...request, start_date: startDate, end_date: endDate, fresh: true });
      return { backtest: toBacktest(again) };
    }),

  /** Says whether two of the caller's completed backtests have equal results, and the first difference. */
  differences: userProcedure
    .input(inputObject({ id: idSchema, other: idSchema }))
    .output(comparisonSchema)
    .query(async ({ ctx, input }) => {
      const row = requireCompleted(await mustGet(ctx.db, input.id, ctx.user.id), "compare");
      const other = requireCompleted(await mustGet(ctx.db, input.other, ctx.user.id), "compare");
      const difference = await readLarge(ctx, () => findDifference(ctx, row, other));
      return {
        equal: difference === null,
        same_data: row.result.data.sha256 === other.result.data.sha256,
        same_engine: row.result.engine_version === other.result.engine_version,
        difference,
      };
    }),
};

async function findDifference(
  ctx: Context,
  row: CompletedBacktest,
  other: CompletedBacktest,
): Promise<Difference | null> {
  const metric = findField(row.result.metrics, other.result.metrics);
  if (metric !== null) return { in: "metrics", number: null, ...metric };
  const [one, two] = [row, other].map((run) => ({
    backtestId: run.id,
    ownerId: run.ownerId,
    markets: marketsOf(run),
  }));
  const count = (rows: number) => ctx.answer.takeCandles(rows * ROW_CANDLES);
  return await findRow("trades", tradeList(ctx, one!), tradeList(ctx, two!), count) ??
    await findRow("orders", orderList(ctx, one!), orderList(ctx, two!), count);
}

/**
 * The first difference between two lists, of which a piece each is in memory at a time.
 *
 * @param count Receives the number of rows of each piece that is read.
 */
export async function findRow<Row, Item extends { readonly number: number }>(
  name: "trades" | "orders",
  one: List<Row, Item>,
  two: List<Row, Item>,
  count: (rows: number) => void,
): Promise<Difference | null> {
  let after: string | undefined;
  for (;;) {
    const [rows, others] = await Promise.all([one, two].map((list) => list.read(after, list.pieceRows)));
    count(rows!.length + others!.length);
    const [items, otherItems] = [rows!.map(one.show), others!.map(two.show)];
    for (let i = 0; i < Math.max(items.length, otherItems.length); i++) {
      const number = (items[i] ?? otherItems[i])!.number;
      const field = findField(items[i] ?? {}, otherItems[i] ?? {});
      if (field !== null) return { in: name, number, ...field };
    }
    const last = rows!.at(-1);
    if (last === undefined || rows!.length < one.pieceRows) return null;
    after = one.key(last);
  }
}

function findField(one: object, two: object): Pick<Difference, "field" | "value" | "other"> | null {
  for (const field of new Set([...Object.keys(one), ...Object.keys(two)])) {
    // Nearly all values are equal, and reading each by a schema takes longer than all the rest.
    if (Reflect.get(one, field) === Reflect.get(two, field)) continue;
    const value = valueSchema.catch(null).parse(Reflect.get(one, field) ?? null);
    const other = valueSchema.catch(null).parse(Reflect.get(two, field) ?? null);
    if (value !== other) return { field, value, other };
  }
  return null;
}
