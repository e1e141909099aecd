import { expect } from "@std/expect";
import { asc, getTableColumns, sql } from "drizzle-orm";
import { deleteChunk, listChunks, readChunks, readChunkVersions, writeChunks } from "../../db/candle_chunks.ts";
import type { Db } from "../../db/client.ts";
import { ensureInstrument } from "../../db/instruments.ts";
import { queryBytes } from "../../db/postgres_session.ts";
import { candleChunks, instruments } from "../../db/schema.ts";
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
    const { object: _object, ...columns } = getTableColumns(candleChunks);
    const all = await db.select(columns).from(candleChunks).orderBy(
      asc(candleChunks.timeframe),
      asc(candleChunks.month),
    );
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

eachDatabaseSteps("the version of an instrument's chunks", async ({ db }, step) => {
  const made = { exchange: "TEST", assetClass: "crypto", provider: "import" } as const;
  const [one, other] = [
    await ensureInstrument(db, { ...made, symbol: "ONE" }),
    await ensureInstrument(db, { ...made, symbol: "OTHER" }),
  ];
  const chunkOf = (instrumentId: string, month: string) => ({
    ...{ instrumentId, timeframe: "1d", month, data: BYTES, candles: 1, sha256: "sum" },
    ...{ firstTime: new Date(`${month}T00:00:00Z`), lastTime: new Date(`${month}T00:00:00Z`) },
  });
  const versions = () => readChunkVersions(db, [one.id, other.id]);
  /** True for each of the two whose version another statement has left as it was. */
  const areKept = async (change: () => Promise<unknown>) => {
    const before = await versions();
    await change();
    return (await versions()).map((version, n) => version === before[n]);
  };
  const [MAY, JUNE] = ["2024-05-01", "2024-06-01"];

  await step("is another once some are written, replaced or removed, and that of others stays", async () => {
    expect(await areKept(() => writeChunks(db, [MAY, JUNE].map((month) => chunkOf(one.id, month))))).toEqual([
      false,
      true,
    ]);
    expect(await areKept(() => writeChunks(db, [chunkOf(one.id, MAY)]))).toEqual([false, true]);
    const [chunk] = await listChunks(db, one.id);
    expect(await areKept(() => deleteChunk(db, chunk!))).toEqual([false, true]);
    expect(await areKept(() => writeChunks(db, [chunkOf(one.id, MAY), chunkOf(other.id, MAY)]))).toEqual([
      false,
      false,
    ]);
  });

  await step("is another whatever writes them", async () => {
    const revised = sql`update candle_chunks set sha256 = 'revised' where instrument_id = ${other.id}`;
    expect(await areKept(() => db.execute(revised))).toEqual([true, false]);
  });

  await step("stays while they are read, and until a change is committed", async () => {
    expect(await areKept(() => listChunks(db, one.id))).toEqual([true, true]);
    const undone = () =>
      db.transaction(async (tx) => {
        await writeChunks(tx, [chunkOf(one.id, JUNE)]);
        throw new Error("undone");
      });
    expect(await areKept(() => expect(undone()).rejects.toThrow("undone"))).toEqual([true, true]);
  });

  await step("ends with the instrument", async () => {
    await db.delete(instruments);
    expect(await versions()).toEqual([-1, -1]);
  });
});
