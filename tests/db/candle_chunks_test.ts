import { expect } from "@std/expect";
import { asc, sql } from "drizzle-orm";
import { readChunks, writeChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { queryBytes } from "../../db/postgres_session.ts";
import { candleChunks } from "../../db/schema.ts";
import { eachDatabaseSteps } from "../support/database.ts";

const BYTES = Uint8Array.from({ length: 70_000 }, (_, i) => i * 7 + (i >> 8));

eachDatabaseSteps("the bytes of candles", async ({ db }, step) => {
  const { id: instrumentId } = await ensureInstrument(db, {
    symbol: "BYTES",
    exchange: "TEST",
    assetClass: "crypto",
    provider: "import",
  });
  const chunkOf = (month: string, timeframe: string, data: Uint8Array) => ({
    ...{ instrumentId, timeframe, month, data, candles: data.length, sha256: "sum" },
    firstTime: new Date(`${month}T00:00:00.007Z`),
    lastTime: new Date(`${month}T23:59:59.999Z`),
  });

  await step("are read as they were written, with the rest of their chunks, by month", async () => {
    await writeChunks(db, [
      chunkOf("2024-03-01", "1m", BYTES),
      chunkOf("1969-12-01", "1m", BYTES.slice(0, 3)),
      chunkOf("2024-02-01", "1m", new Uint8Array(0)),
      chunkOf("2024-03-01", "1h", BYTES),
    ]);
    const months = ["2024-03-01", "1969-12-01", "2024-02-01", "2024-01-01"];
    const chunks = await readChunks(db, { instrumentId, timeframe: "1m", months });
    expect(chunks.map(({ month }) => month)).toEqual(["1969-12-01", "2024-02-01", "2024-03-01"]);
    const all = await db.select().from(candleChunks).orderBy(asc(candleChunks.timeframe), asc(candleChunks.month));
    expect(chunks).toEqual(all.filter(({ timeframe }) => timeframe === "1m"));
    expect(await readChunks(db, { instrumentId, timeframe: "1m", months: ["2024-01-01"] })).toEqual([]);
    expect(await readChunks(db, { instrumentId, timeframe: "it's", months })).toEqual([]);
  });

  await step("are not sent as text", async () => {
    const text = `it's "a" text \\ $1; é`;
    const select = sql`select ${text}::text, ${BYTES.toHex()}::text::bytea, decode(${BYTES.toHex()}, 'hex'), null, 258`;
    const [row] = await queryBytes(db, select);
    const encoded = new TextEncoder().encode(text);
    const hex = new TextEncoder().encode(BYTES.toHex());
    expect(row).toEqual([encoded, hex, BYTES, null, Uint8Array.of(0, 0, 1, 2)]);
  });

  await step("are read after a statement that failed, and twice at once in a transaction", async () => {
    await expect(queryBytes(db, sql`select 1 / 0`)).rejects.toThrow(/division by zero/);
    const read = (from: Db) => readChunks(from, { instrumentId, timeframe: "1m", months: ["2024-03-01"] });
    await db.transaction(async (tx: Db) => {
      const [[one], [other]] = await Promise.all([read(tx), read(tx)]);
      expect([one?.data, other?.data]).toEqual([BYTES, BYTES]);
      await tx.delete(candleChunks);
      expect(await read(tx)).toEqual([]);
    });
  });
});
