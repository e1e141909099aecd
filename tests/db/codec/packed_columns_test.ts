import { expect } from "@std/expect";
import { decodeColumns } from "../../../db/codec/columns.ts";
import { packColumns, unpackColumns } from "../../../db/codec/packed_columns.ts";
import { randomFrom } from "../../engine/properties/random.ts";

const ROWS = 3_000;
const column = (value: (i: number) => number) => Float64Array.from({ length: ROWS }, (_, i) => value(i));
const ticks = column((i) => (4_000_000 + (i * 7_919) % 100_003) / 100);

/** Columns by the property that could be lost, and the most bytes that a row may take. */
const COLUMNS: Readonly<Record<string, readonly [values: Float64Array, bytesMax: number]>> = {
  "prices on ticks": [ticks, 3],
  "prices below and above zero": [column((i) => ((i * 31) % 201 - 100) / 4), 2],
  "times without a gap": [column((i) => Date.UTC(2024, 0, 1) + i * 60_000), 0.1],
  "times with a gap each week": [column((i) => Date.UTC(2024, 0, 1) + i * 60_000 + Math.floor(i / 300) * 1e7), 0.3],
  "times to the millisecond": [column((i) => Date.UTC(2024, 0, 1) + i * 60_000 + (i * 7_919) % 997), 4],
  "one value with all its digits": [column(() => 1 / 3), 0.1],
  "a few values with all their digits": [column((i) => Math.floor(i / 100) / 3), 1],
  "all digits in each row": [column((i) => Math.sqrt(i + 2)), 9],
  "no numbers at all": [column(() => NaN), 0.1],
  "numbers and gaps": [column((i) => i % 3 === 0 ? NaN : ticks[i]!), 4],
  "a gap at the begin": [column((i) => i === 0 ? NaN : ticks[i]!), 4],
  "zeros of both signs": [column((i) => i % 2 === 0 ? 0 : -0), 9],
  "a zero below zero among ticks": [column((i) => i === 7 ? -0 : ticks[i]!), 9],
  "a line through a zero below zero": [column((i) => i === 1 ? -0 : i - 1), 9],
  "no finite numbers": [column((i) => i % 2 === 0 ? Infinity : -Infinity), 9],
  "a value beyond all others": [column((i) => i === 9 ? Infinity : ticks[i]!), 9],
  "the smallest and the largest doubles": [column((i) => i % 2 === 0 ? Number.MIN_VALUE : Number.MAX_VALUE), 9],
  "whole numbers near the limit": [column((i) => (i % 2 === 0 ? 1 : -1) * (2 ** 51 - i)), 9],
  "whole numbers beyond the limit": [column((i) => (i % 2 === 0 ? 1 : -1) * (2 ** 53 - 1 - i)), 9],
  "distances of 24 bits": [column((i) => i % 2 === 0 ? 0 : 2 ** 23 - 1), 4],
  "distances of 32 bits": [column((i) => i % 2 === 0 ? 0 : 2 ** 31 - i), 6],
  "twelve decimals": [column((i) => (i * 7_919 % 10_007) / 1e12), 4],
  "a decimal more after many rows": [column((i) => i < 2_000 ? i * 31 % 101 : (i * 31 % 101) / 8), 4],
};

for (const [name, [values, bytesMax]] of Object.entries(COLUMNS)) {
  Deno.test(`packed columns come back to the bit: ${name}`, () => {
    const packed = packColumns({ values, ticks });
    const back = decodeColumns(packed);
    expect(Object.keys(back)).toEqual(["values", "ticks"]);
    expect(values.findIndex((value, i) => !Object.is(value, back.values?.[i]))).toBe(-1);
    expect(back.ticks).toEqual(ticks);
    expect(packColumns({ values: values.slice(), ticks })).toEqual(packed);
    expect(packColumns({ values }).length / ROWS).toBeLessThan(bytesMax);
  });
}

Deno.test("packed columns of any length come back, wherever they lie in memory", () => {
  for (const rows of [0, 1, 2, 15, 16, 17, 64, 65]) {
    const shared = new Float64Array(new SharedArrayBuffer((rows + 1) * 8), 8, rows);
    shared.set(ticks.subarray(0, rows));
    expect(decodeColumns(packColumns({ shared }))).toEqual({ shared: ticks.slice(0, rows) });
  }
});

Deno.test("random columns come back to the bit", () => {
  const { next, chance } = randomFrom(1);
  for (let round = 0; round < 200; round++) {
    const scale = 10 ** Math.floor(next() * 14 - 4);
    const values = Float64Array.from({ length: 100 }, () => {
      const whole = Math.round((next() - 0.5) * 10 ** Math.floor(next() * 17));
      return chance(0.02) ? NaN : chance(0.02) ? next() : whole / scale;
    });
    const back = decodeColumns(packColumns({ values })).values;
    expect(values.findIndex((value, i) => !Object.is(value, back?.[i]))).toBe(-1);
  }
});

Deno.test("columns of different length, and no columns, are not packed", () => {
  expect(() => packColumns({ a: new Float64Array(2), b: new Float64Array(3) })).toThrow("of 2 and 3 rows");
  expect(() => packColumns({})).toThrow("Cannot pack columns: there are none");
});

Deno.test("damaged packed bytes never give a wrong number; a cut is one clear error", () => {
  const columns = { ticks: ticks.subarray(0, 40), third: ticks.subarray(0, 40).map((value) => value / 3) };
  const bytes = packColumns(columns);
  for (let at = 0; at < bytes.length; at++) {
    const damaged = Uint8Array.from(bytes);
    damaged[at] = bytes[at]! ^ 0x40;
    const decoded = decodeOrMessage(damaged);
    // Some bits carry no meaning (how much memory to reserve, say): their flip must do no harm.
    if (typeof decoded === "string") expect(decoded).toContain("Cannot read columns: ");
    else expect(decoded).toEqual(columns);
  }
  for (let length = 0; length < bytes.length - 4; length++) {
    expect(() => decodeColumns(bytes.subarray(0, length))).toThrow("Cannot read columns: ");
  }
});

function decodeOrMessage(bytes: Uint8Array) {
  try {
    return decodeColumns(bytes);
  } catch (error) {
    return String(error);
  }
}

Deno.test("a form that this build does not know is an error, and never other numbers", () => {
  const header = new TextEncoder().encode(JSON.stringify({ rows: 1, columns: [{ name: "a", kind: "floats" }] }));
  const bytes = new Uint8Array(4 + header.length + 8);
  new DataView(bytes.buffer).setUint32(0, header.length, true);
  bytes.set(header, 4);
  expect(() => unpackColumns(bytes)).toThrow('the form {"name":"a","kind":"floats"} is unknown');
});
