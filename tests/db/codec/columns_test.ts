import { expect } from "@std/expect";
import { decodeColumns, encodeColumns } from "../../../db/codec/columns.ts";
import { tableFromIPC } from "apache-arrow";
import { zstdDecompressSync } from "node:zlib";

const columns = {
  time: Float64Array.of(1_704_067_200_000, 1_704_067_260_000, 1_704_067_320_000),
  price: Float64Array.of(1e-8, 1e9, -0),
};

Deno.test("columns come back to the last bit", () => {
  const decoded = decodeColumns(encodeColumns(columns));
  expect(Object.keys(decoded)).toEqual(["time", "price"]);
  expect(decoded.time).toEqual(columns.time);
  expect(Object.is(decoded.price?.[2], -0)).toBe(true);
  expect(decoded.price?.[0]).toBe(1e-8);
});

Deno.test("the same columns give the same bytes, wherever they lie in memory", () => {
  const shared = new Float64Array(new SharedArrayBuffer(5 * 8), 8, 3);
  shared.set(columns.time);
  expect(encodeColumns({ time: shared, price: columns.price })).toEqual(encodeColumns(columns));
});

Deno.test("columns that share memory come back whole", () => {
  const memory = Float64Array.from({ length: 3_000 }, (_, i) => i / 8);
  for (const rows of [3, 2_000]) {
    const [first, shifted] = [memory.subarray(0, rows), memory.subarray(1, rows + 1)];
    const shared = { first, again: first, shifted, same: memory.subarray(0, rows) };
    expect(decodeColumns(encodeColumns(shared))).toEqual(shared);
  }
});

Deno.test("columns without rows keep their names", () => {
  const decoded = decodeColumns(encodeColumns({ time: new Float64Array(0), equity: new Float64Array(0) }));
  expect(decoded).toEqual({ time: new Float64Array(0), equity: new Float64Array(0) });
});

Deno.test("columns of different length, and no columns, are refused", () => {
  expect(() => encodeColumns({ a: new Float64Array(2), b: new Float64Array(3) })).toThrow("of 2 and 3 rows");
  expect(() => encodeColumns({})).toThrow("Cannot encode columns: there are none");
});

Deno.test("damaged bytes never give a wrong number; a cut and foreign bytes are one clear error", () => {
  const bytes = encodeColumns(columns);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = bytes[at]! ^ 0x40;
    const decoded = decodeOrMessage(damaged);
    // Some bits carry no meaning (how much memory to reserve, say): their flip must do no harm.
    if (typeof decoded === "string") expect(decoded).toContain("Cannot read columns: ");
    else expect(decoded).toEqual(columns);
  }
  const checksumBytes = 4;
  for (let length = 0; length < bytes.length - checksumBytes; length++) {
    expect(() => decodeColumns(bytes.subarray(0, length))).toThrow("Cannot read columns: ");
  }
  expect(() => decodeColumns(zstdDecompressSync(bytes))).toThrow("Cannot read columns: ");
});

function decodeOrMessage(bytes: Uint8Array) {
  try {
    return decodeColumns(bytes);
  } catch (error) {
    return String(error);
  }
}

Deno.test("unpacked, short columns are an Arrow stream that any reader opens", () => {
  const table = tableFromIPC(zstdDecompressSync(encodeColumns(columns)));
  expect(table.numRows).toBe(3);
  expect([...table.getChild("time")!]).toEqual([...columns.time]);
});

Deno.test("long columns of decimals take half the room, and all kinds come back together", () => {
  const length = 10_000;
  const time = Float64Array.from({ length }, (_, i) => Date.UTC(2024, 0, 1) + i * 60_000);
  const price = Float64Array.from({ length }, (_, i) => (4_000_000 + (i * 7_919) % 100_003) / 100);
  const third = price.map((value) => value / 3);
  const encoded = encodeColumns({ time, price, third });
  expect(decodeColumns(encoded)).toEqual({ time, price, third });
  expect(encodeColumns({ time, price, third })).toEqual(encoded);
  const bytes = (values: Float64Array) => encodeColumns({ values }).length;
  // A last double that is no decimal keeps the whole column from being taken apart.
  const mixed = Float64Array.from(price, (value, i) => i === length - 1 ? value / 3 : value);
  expect(bytes(price)).toBeLessThan(bytes(mixed) / 2);
  expect(decodeColumns(encodeColumns({ mixed })).mixed).toEqual(mixed);
});
