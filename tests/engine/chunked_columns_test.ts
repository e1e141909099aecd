import { expect } from "@std/expect";
import { ChunkedColumns, type ColumnMemory, placeOf } from "../../engine/chunked_columns.ts";

Deno.test("columns keep their values over many chunks, and each ends in its own memory", () => {
  const rows = new ChunkedColumns((memory: ColumnMemory) => ({
    side: memory.sides(),
    price: memory.doubles(),
    index: memory.integers(),
    reason: memory.codes(),
  }), null);
  const count = 5000;
  for (let k = 0; k < count; k++) {
    const row = rows.append();
    const { side, price, index, reason } = rows.chunkOf(row);
    side[placeOf(row)] = k % 2 === 0 ? 1 : -1;
    price[placeOf(row)] = k / 4;
    index[placeOf(row)] = -k;
    reason[placeOf(row)] = k % 256;
  }
  const { side, price, index, reason } = rows.gather();
  const numbers = Array.from({ length: count }, (_, k) => k);
  expect(price).toEqual(Float64Array.from(numbers, (k) => k / 4));
  expect(index).toEqual(Int32Array.from(numbers, (k) => -k));
  expect(side).toEqual(Int8Array.from(numbers, (k) => (k % 2 === 0 ? 1 : -1)));
  expect(reason).toEqual(Uint8Array.from(numbers, (k) => k % 256));
  expect(new Set([side, price, index, reason].map(({ buffer }) => buffer)).size).toBe(4);
});
