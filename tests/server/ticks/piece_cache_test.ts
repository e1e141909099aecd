import { expect } from "@std/expect";
import { PieceCache } from "../../../server/ticks/piece_cache.ts";

const pieces = (...sizes: number[]) => sizes.map((size) => new Uint8Array(size));

Deno.test("pieces are remembered up to a size, and those not used longest are forgotten", () => {
  const cache = new PieceCache(100);
  const a = pieces(30, 10);
  cache.put("a", a);
  cache.put("b", pieces(40));
  expect(cache.get("a")).toBe(a);
  // 40 + 40 + 30 are more than 100: b was used before a.
  cache.put("c", pieces(30));
  expect([cache.get("a") !== undefined, cache.get("b"), cache.get("c")?.length]).toEqual([true, undefined, 1]);
  // What is larger than all room is not kept, and pushes nothing out.
  cache.put("d", pieces(101));
  expect([cache.get("d"), cache.get("a") !== undefined]).toEqual([undefined, true]);
});
