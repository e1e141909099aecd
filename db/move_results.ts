import { eq, sql } from "drizzle-orm";
import { EXIT_REASONS, STILL_OPEN } from "../engine/trade_columns.ts";
import { rowsOf } from "./answer_rows.ts";
import { addSizes } from "./backtest_sizes.ts";
import type { Db } from "./database.ts";
import { type Columns, decodeColumns } from "./codec/columns.ts";
import { CHUNK_ROWS, measureChunks, type PartColumns, type ResultChunk } from "./codec/result_parts.ts";
import { encodeParts, insertChunks } from "./result_chunks.ts";
import { backtests } from "./schema.ts";

// The estimate with which the sizes of records were measured while each trade was a row.
const TRADE_ROW_BYTES = 200;

/** Chunks made of rows of before, and the bytes for which those rows counted. */
interface Moved {
  readonly chunks: readonly ResultChunk[];
  readonly bytesBefore: number;
}

/** Moves the results of a database that keeps a row for each trade into chunks, and drops the tables of before. */
export async function moveResults(db: Db): Promise<void> {
  const [table] = rowsOf(await db.execute(sql`select to_regclass('backtest_trades') as name`));
  if (Object(table).name === null) return;
  await db.transaction(async (tx: Db) => {
    const records = await tx.select({ id: backtests.id, ownerId: backtests.ownerId, attempt: backtests.attempts })
      .from(backtests).where(eq(backtests.status, "completed"));
    for (const { id, ownerId, attempt } of records) {
      let grownBytes = 0;
      for await (const { chunks, bytesBefore } of readBefore(tx, id)) {
        await insertChunks(tx, [{ backtestId: id, attempt, chunks }]);
        grownBytes += measureChunks(chunks) - bytesBefore;
      }
      await tx.update(backtests).set({ sizeBytes: sql`${backtests.sizeBytes} + ${grownBytes}` })
        .where(eq(backtests.id, id));
      await addSizes(tx, [{ ownerId, sizeBytes: grownBytes }]);
    }
    for (const name of ["trades", "orders", "equity"]) {
      await tx.execute(sql`drop table ${sql.identifier(`backtest_${name}`)}`);
    }
  });
}

async function* readBefore(tx: Db, id: string): AsyncGenerator<Moved> {
  for (let chunk = 0;; chunk++) {
    const rows = rowsOf(await tx.execute(selectTrades(id, chunk))).map(Object);
    if (rows.length === 0) break;
    const tags = rows.map(({ tag }): string | null => tag);
    const part = { part: "trades", count: rows.length, columns: tradeColumns(rows), time: "entryTime", tags } as const;
    const tagBytes = tags.reduce((bytes, tag) => bytes + (tag?.length ?? 0), 0);
    yield { chunks: await encodeAt(part, chunk), bytesBefore: rows.length * TRADE_ROW_BYTES + tagBytes };
  }
  const stretches =
    sql`select stretch, data, tags::text from backtest_orders where backtest_id = ${id} order by stretch`;
  for (const { stretch, data, tags } of rowsOf(await tx.execute(stretches)).map(Object)) {
    const columns = decodeColumns(data);
    const texts: (string | null)[] = tags === null ? [] : JSON.parse(tags);
    const part = { part: "orders", count: countRows(columns), columns, time: "time", tags: texts } as const;
    yield { chunks: await encodeAt(part, stretch), bytesBefore: data.byteLength + (tags?.length ?? 0) };
  }
  for (
    const { data } of rowsOf(await tx.execute(sql`select data from backtest_equity where backtest_id = ${id}`)).map(
      Object,
    )
  ) {
    const columns = decodeColumns(data);
    const part = { part: "equity", count: countRows(columns), columns, time: "time" } as const;
    yield { chunks: await encodeParts([part]), bytesBefore: data.byteLength };
  }
}

/** Encodes rows that are the chunk of this number. */
async function encodeAt(part: PartColumns, chunk: number): Promise<ResultChunk[]> {
  return (await encodeParts([part])).map((encoded) => ({ ...encoded, chunk }));
}

function countRows(columns: Columns): number {
  return columns.time?.length ?? 0;
}

function selectTrades(id: string, chunk: number) {
  return sql`
    select case side when 'long' then 1 else -1 end as side, quantity,
      extract(epoch from entry_time)::float8 * 1000 as "entryTime", entry_price as "entryPrice",
      extract(epoch from exit_time)::float8 * 1000 as "exitTime", exit_price as "exitPrice",
      fees, pnl, "return", candles, mae, mfe, exit_reason as reason, ambiguous::integer as ambiguous, tag
    from backtest_trades where backtest_id = ${id}
      and number > ${chunk * CHUNK_ROWS} and number <= ${(chunk + 1) * CHUNK_ROWS}
    order by number`;
}

function tradeColumns(rows: readonly Readonly<Record<string, unknown>>[]): Columns {
  const column = (name: string) => Float64Array.from(rows, ({ [name]: value }) => value === null ? NaN : Number(value));
  // Seconds with a fraction are not exact; milliseconds are whole.
  const times = (name: string) => column(name).map(Math.round);
  return {
    side: column("side"),
    quantity: column("quantity"),
    entryTime: times("entryTime"),
    entryPrice: column("entryPrice"),
    exitTime: times("exitTime"),
    exitPrice: column("exitPrice"),
    fees: column("fees"),
    pnl: column("pnl"),
    return: column("return"),
    candles: column("candles"),
    mae: column("mae"),
    mfe: column("mfe"),
    exitReason: Float64Array.from(rows, ({ reason }) => {
      const index = EXIT_REASONS.findIndex((name) => name === reason);
      return index < 0 ? STILL_OPEN : index;
    }),
    ambiguous: column("ambiguous"),
  };
}
