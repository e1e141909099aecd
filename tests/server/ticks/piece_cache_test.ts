import { expect } from "@std/expect";
import { createPieceCache } from "../../../server/ticks/piece_cache.ts";

const pieces = (...sizes: number[]) => sizes.map((size) => new Uint8Array(size));

Deno.test("pieces are kept up to a total size, and the least recently used are dropped", () => {
  const cache = createPieceCache(100);
  const a = pieces(30, 10);
  cache.set("a", a);
  cache.set("b", pieces(40));
  expect(cache.get("a")).toBe(a);
  // 40 + 40 + 30 are more than 100: b was used before a.
  cache.set("c", pieces(30));
  expect([cache.get("a") !== undefined, cache.get("b"), cache.get("c")?.length]).toEqual([true, undefined, 1]);
  // An answer larger than the cache is not kept, and displaces nothing.
  cache.set("d", pieces(101));
  expect([cache.get("d"), cache.get("a") !== undefined]).toEqual([undefined, true]);
  // A chunk without candles has no bytes.
  cache.set("e", []);
  expect(cache.get("e")).toEqual([]);
});
