import { expect } from "@std/expect";
import { ColumnCache } from "../../engine/column_cache.ts";
import { sma } from "../../engine/indicators/sma.ts";
import { BufferPool, buffersOf, sharedColumn, takeDoubles } from "../../engine/buffer_pool.ts";
import { run } from "../../engine/run.ts";
import { bytesOf } from "./properties/bytes.ts";
import { randomRun } from "./properties/random_run.ts";

const KIB = 1024;

Deno.test("a pool hands out the smallest buffer that is large enough, and at most twice as large", () => {
  const pool = new BufferPool(KIB * KIB);
  const [small, large] = [new ArrayBuffer(100 * KIB), new ArrayBuffer(150 * KIB)];
  pool.add(large);
  pool.add(small);
  expect(pool.take(80 * KIB)).toBe(small);
  expect(pool.take(74 * KIB)).not.toBe(large);
  expect(pool.take(80 * KIB)).toBe(large);
  expect(pool.take(80 * KIB).byteLength).toBe(80 * KIB);
});

Deno.test("a pool releases the longest unused buffers beyond its limit", () => {
  const pool = new BufferPool(200 * KIB);
  const [first, second, third] = [100, 90, 80].map((size) => new ArrayBuffer(size * KIB));
  for (const buffer of [first!, second!, third!]) pool.add(buffer);
  expect(pool.take(95 * KIB)).not.toBe(first);
  expect(pool.take(85 * KIB)).toBe(second);
  expect(pool.take(75 * KIB)).toBe(third);
});

Deno.test("a buffer is handed out again only after it was taken back", () => {
  const pool = new BufferPool(KIB * KIB);
  const [leaving, staying] = [pool.take(50 * KIB), pool.take(50 * KIB)];
  expect(pool.take(50 * KIB)).not.toBe(staying);
  pool.reclaim(new Set([leaving]));
  const next = [pool.take(50 * KIB), pool.take(50 * KIB), pool.take(50 * KIB)];
  expect(next).toContain(staying);
  expect(next).not.toContain(leaving);
});

Deno.test("the result of a run belongs to it alone: later runs out of the same pool do not change it", () => {
  const pool = new BufferPool(KIB * KIB, 1);
  const results = Array.from({ length: 40 }, (_, n) => {
    const result = run({ ...randomRun(5, n), pool });
    pool.reclaim(buffersOf(result));
    return { result, bytes: bytesOf(result) };
  });
  expect(results.some(({ result }) => result.trades.count > 10)).toBe(true);
  const buffers = results.flatMap(({ result }) => [...buffersOf(result)]);
  expect(new Set(buffers).size).toBe(buffers.length);
  for (const { result, bytes } of results) expect(bytesOf(result) === bytes).toBe(true);
});

Deno.test("runs share an indicator of the same candles and period, as long as the pool says so", () => {
  const candles = new Float64Array(new SharedArrayBuffer(8 * 6));
  candles.set([1, 2, 3, 4, 5, 6]);
  const pool = new BufferPool(1000);
  pool.columns = new ColumnCache(100);
  const shared = (values: Float64Array, period: number) => sharedColumn(sma, values, period, pool);
  const first = shared(candles, 2);
  expect(shared(candles, 2)).toBe(first);
  expect([...shared(candles.subarray(1), 2)]).toEqual([NaN, 2.5, 3.5, 4.5, 5.5]);
  expect([...shared(candles, 3)]).toEqual([NaN, NaN, 2, 3, 4, 5]);
  // Three columns are more than it holds: the first one is gone.
  expect(shared(candles, 2)).not.toBe(first);
  // Columns of a run are written again by the next one.
  const own = candles.slice();
  expect(shared(own, 2)).not.toBe(shared(own, 2));
  pool.columns = null;
  expect(shared(candles, 2)).not.toBe(shared(candles, 2));
});

Deno.test("a column that is given back is handed out again; another's stays its own", () => {
  const pool = new BufferPool(1000, 1);
  const column = takeDoubles(pool, 4);
  const foreign = new Float64Array(4);
  pool.giveBack(column);
  pool.giveBack(foreign);
  // Given back twice, it would be handed out twice.
  pool.giveBack(column);
  expect(takeDoubles(pool, 4).buffer).toBe(column.buffer);
  expect([column.buffer, foreign.buffer]).not.toContain(takeDoubles(pool, 4).buffer);
});
