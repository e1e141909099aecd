import { expect } from "@std/expect";
import { BufferPool, buffersOf } from "../../engine/buffer_pool.ts";
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
