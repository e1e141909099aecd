import { expect } from "@std/expect";
import { ChunkedRows } from "../../engine/chunked_rows.ts";

Deno.test("rows keep their values over many chunks", () => {
  const rows = new ChunkedRows(3, null);
  const count = 5000;
  for (let k = 0; k < count; k++) {
    const row = rows.append();
    expect(row).toBe(k);
    rows.chunkOf(row).set([k / 4, -k, NaN], rows.placeOf(row));
  }
  expect(rows.count).toBe(count);
  for (let k = 0; k < count; k++) {
    const at = rows.placeOf(k);
    expect(rows.chunkOf(k).subarray(at, at + 3)).toEqual(Float64Array.of(k / 4, -k, NaN));
  }
});
