import { expect } from "@std/expect";
import { claimBacktests, insertBacktest, storeResults } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import {
  CHUNK_ROWS,
  EQUITY_CHUNK_ROWS,
  equityPart,
  measureChunks,
  type ResultChunk,
} from "../../db/codec/result_parts.ts";
import { readEquity, readEquityPieces } from "../../db/equity.ts";
import { encodeParts } from "../../db/result_chunks.ts";
import { addCompleted, addUser, newBacktest, newResult } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

eachDatabaseSteps("equity", async ({ db }, step) => {
  await addUser(db, "ann");
  const store = async (chunks: readonly ResultChunk[]) => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await claimBacktests(db, [id]);
    await db.transaction((tx: Db) => storeResults(tx, [{ id, attempt: 1, result: newResult(), chunks }]));
    return { backtestId: id, ownerId: "ann" };
  };

  await step("comes back to the last bit, to its owner alone", async () => {
    const columns = {
      time: Float64Array.of(1_704_067_200_000, 1_704_067_260_000),
      equity: Float64Array.of(0.1 + 0.2, 1e12),
      position: Float64Array.of(0, -1e-8),
    };
    const queued = await insertBacktest(db, newBacktest("ann"));
    expect(await readEquity(db, { backtestId: queued.id, ownerId: "ann" })).toBeNull();
    const id = await addCompleted(db, { equity: columns });
    expect(await readEquity(db, { backtestId: id, ownerId: "ann" })).toEqual(columns);
    expect(await readEquity(db, { backtestId: id, ownerId: "bob" })).toBeNull();
  });

  const time = Float64Array.from({ length: 2 * EQUITY_CHUNK_ROWS + 5_000 }, (_, i) => i * 60_000);
  await step("comes back whole, and in pieces, across the chunks that hold it", async () => {
    const columns = { time, equity: time.map((ms) => 1e4 + ms / 7), position: time.map((ms) => ms % 3) };
    const key = { backtestId: await addCompleted(db, { equity: columns }), ownerId: "ann" };
    for (const candles of [undefined, 0, 1, time.length, 2 * time.length]) {
      expect(await readEquity(db, key, { candles })).toEqual(columns);
    }
    const pieces = await Array.fromAsync(readEquityPieces(db, key));
    expect(pieces.map((piece) => piece.time.length)).toEqual([EQUITY_CHUNK_ROWS, EQUITY_CHUNK_ROWS, 5_000]);
    expect(pieces.flatMap(({ equity }) => [...equity])).toEqual([...columns.equity]);
  });

  await step("that was stored in chunks of another length, as by earlier versions, comes back", async () => {
    const columns = { time, equity: time.map((ms) => 1e4 + ms / 7), position: time.map((ms) => ms % 3) };
    const chunks: ResultChunk[] = [];
    for (let begin = 0; begin < time.length; begin += CHUNK_ROWS) {
      const cut = (values: Float64Array) => values.slice(begin, begin + CHUNK_ROWS);
      const piece = { time: cut(columns.time), equity: cut(columns.equity), position: cut(columns.position) };
      const [encoded] = await encodeParts([equityPart(piece)]);
      chunks.push({ ...encoded!, chunk: chunks.length });
    }
    const key = await store(chunks);
    expect(await readEquity(db, key)).toEqual(columns);
    const pieces = await Array.fromAsync(readEquityPieces(db, key));
    expect(pieces.flatMap(({ equity }) => [...equity])).toEqual([...columns.equity]);
  });

  await step(
    "that is marked at closes is stored in less than half of the bytes and comes back to the last bit",
    async () => {
      const close = time.map((_, i) => (4_000_000 + i * 7_919 % 100_003) / 100);
      const position = time.map((_, i) => (1 + Math.floor(i / 333)) / 7);
      const curve = { time, equity: time.map((_, i) => -1e4 / 3 + position[i]! * close[i]!), position };
      const plain = measureChunks(await encodeParts([equityPart(curve)]));
      const from = Int32Array.from({ length: Math.ceil(time.length / 333) }, (_, k) => 333 * k);
      const units = Float64Array.from(from.keys(), (k) => (1 + k) / 7);
      const balances = { from, cash: units.map(() => -1e4 / 3), units };
      const chunks = await encodeParts([equityPart(curve, { close, balances })]);
      expect(measureChunks(chunks)).toBeLessThan(plain / 2);
      expect(await readEquity(db, await store(chunks))).toEqual(curve);
    },
  );
});
