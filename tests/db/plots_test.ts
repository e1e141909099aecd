import { expect } from "@std/expect";
import { measureBacktests } from "../../db/backtest_sizes.ts";
import { backtestRecords, claimBacktests, insertBacktest, storeResults } from "../../db/backtests.ts";
import type { Db } from "../../db/client.ts";
import { type EncodedSeries, type Plot, plotsPart } from "../../db/codec/plots_part.ts";
import { CHUNK_ROWS, measureChunks } from "../../db/codec/result_parts.ts";
import { failBacktest } from "../../db/failed_backtests.ts";
import { countPlotCandles, readPlots } from "../../db/plots.ts";
import { encodeParts, insertChunksAhead } from "../../db/result_chunks.ts";
import { addUser, newBacktest, newResult, removeBacktest } from "../support/backtests.ts";
import { eachDatabaseSteps } from "../support/database.ts";

const ROWS = CHUNK_ROWS + 5;
const MINUTE_MS = 60_000;
const time = Float64Array.from({ length: ROWS }, (_, i) => i * MINUTE_MS);
const low = time.map(() => 100);
const high = time.map(() => 120);

/** A plot with these values at the first candles, and none behind them. */
function plotOf(name: string, ...values: number[]): Plot {
  return { name, pane: null, values: time.map((_, i) => values[i] ?? NaN) };
}

async function encode(plots: readonly Plot[], isWhole = true): Promise<EncodedSeries> {
  const made = plotsPart(plots, { time, low, high }, isWhole);
  return made === null ? { plots: [], chunks: [] } : { plots: made.plots, chunks: await encodeParts([made.part]) };
}

Deno.test("a plot lies over the candles if its values are between half the lowest and twice the highest price", async () => {
  const near = [plotOf("average", 110, 111), plotOf("lowest", 50), plotOf("highest", 240), plotOf("nothing")];
  const far = [plotOf("below", 49), plotOf("above", 241), plotOf("oscillator", 0, 110)];
  const chosen = [{ ...plotOf("chosen", 110), pane: "own" } as const];
  const { plots } = await encode([...near, ...far, ...chosen]);
  expect(plots.map(({ pane }) => pane)).toEqual([
    ...Array(4).fill("price"),
    ...["below", "above", "oscillator", "own"],
  ]);
});

eachDatabaseSteps("plots", async ({ db }, step) => {
  await addUser(db, "ann");
  const claim = async () => {
    const { id } = await insertBacktest(db, newBacktest("ann"));
    await claimBacktests(db, [id]);
    return id;
  };
  const read = async (backtestId: string, from: Parameters<typeof readPlots>[2], ownerId = "ann") => {
    const row = await backtestRecords.get(db, { id: backtestId, ownerId: "ann" });
    return await Array.fromAsync(readPlots(db, { backtestId, ownerId, plots: row?.plots?.length ?? 0 }, from));
  };
  const values = time.map((_, i) => i % 3 === 0 ? NaN : -i / 7);
  const series = await encode([{ name: "\u0000 __proto__", pane: "own", values }, plotOf("b", 1, -0)]);

  await step("come back to the bit, from any candle on, to their owner alone, and count in the quota", async () => {
    const id = await claim();
    const before = await measureBacktests(db, "ann");
    await db.transaction((tx: Db) => storeResults(tx, [{ id, attempt: 1, result: newResult(), ...series }]));
    const grown = await measureBacktests(db, "ann") - before;
    expect(grown).toBeGreaterThan(measureChunks(series.chunks));
    const pieces = await read(id, { index: 0 });
    expect(pieces.map((piece) => piece.time.length)).toEqual([CHUNK_ROWS, 5]);
    expect(pieces.flatMap(({ columns }) => [...columns[0]!])).toEqual([...values]);
    expect([...pieces[0]!.columns[1]!.subarray(0, 3)]).toEqual([1, -0, NaN]);
    for (const from of [{ index: CHUNK_ROWS + 1 }, { timeMs: CHUNK_ROWS * MINUTE_MS }]) {
      expect((await read(id, from)).map((piece) => piece.time[0])).toEqual([CHUNK_ROWS * MINUTE_MS]);
    }
    expect([await read(id, { index: 0 }, "bob"), await read(id, { timeMs: ROWS * MINUTE_MS })]).toEqual([[], []]);
    expect(await countPlotCandles(db, { backtestId: id, ownerId: "ann", plots: 2 })).toBe(ROWS);
    await db.transaction((tx: Db) => removeBacktest(tx, { id, ownerId: "ann" }));
    expect(await countPlotCandles(db, { backtestId: id, ownerId: "ann", plots: 2 })).toBe(0);
    expect(await measureBacktests(db, "ann")).toBeLessThan(before);
  });

  await step("of a run that failed end with the last plotted value, whenever they are written", async () => {
    const error = { code: "STRATEGY_FAILED", message: "Cannot go on" };
    const failed = await encode([plotOf("a", 1, NaN, 3), plotOf("b", 5)], false);
    for (const isAhead of [false, true]) {
      const id = await claim();
      const { chunks } = failed;
      if (isAhead) await insertChunksAhead(db, { backtestId: id, attempt: 1, chunks });
      const ended = { id, attempt: 1, error, series: { ...failed, areChunksWritten: isAhead } };
      const size = await db.transaction((tx: Db) => failBacktest(tx, ended));
      expect(size?.sizeBytes).toBeGreaterThan(measureChunks(chunks));
      const [piece, ...more] = await read(id, { index: 0 });
      expect(more).toEqual([]);
      expect(piece!.columns.map((column) => [...column])).toEqual([[1, NaN, 3], [5, NaN, NaN]]);
    }
  });

  await step("of an earlier attempt go with the next one's", async () => {
    const id = await claim();
    await insertChunksAhead(db, { backtestId: id, attempt: 1, chunks: series.chunks });
    await claimBacktests(db, [id]);
    const again = await encode([plotOf("c", 7)], false);
    const error = { code: "STRATEGY_FAILED", message: "Cannot go on" };
    await db.transaction((tx: Db) => failBacktest(tx, { id, attempt: 2, error, series: again }));
    expect((await read(id, { index: 0 })).map(({ columns }) => columns.map((each) => [...each]))).toEqual([[[7]]]);
    expect(await countPlotCandles(db, { backtestId: id, ownerId: "ann", plots: 1 })).toBe(1);
  });
});
