import { expect } from "@std/expect";
import { joinDecimals, splitDecimals } from "../../../db/codec/decimal_planes.ts";

function split(...values: number[]) {
  return splitDecimals(Float64Array.from(values));
}

/** Splits a column, which must be one that can be split, and joins it again. */
function comeBack(values: Float64Array): Float64Array {
  const planes = splitDecimals(values);
  if (planes === null) throw new Error(`Cannot split ${values.slice(0, 5)}`);
  const target = new Float64Array(values.length);
  joinDecimals(planes, target);
  return target;
}

Deno.test("a column of decimals is taken apart into the bytes of whole numbers", () => {
  // 0.5 and 300.25 in hundredths are 50 = 0x32 and 30025 = 0x7549.
  expect(split(0.5, 300.25)).toEqual({ decimals: 2, planes: [Uint8Array.of(0x32, 0x49), Uint8Array.of(0, 0x75)] });
  // Midnight and a minute after it in units of ten seconds: 170,406,720 = 0x0a283340.
  expect(split(1_704_067_200_000, 1_704_067_260_000)).toEqual({
    decimals: -4,
    planes: [
      Uint8Array.of(0x40, 0x46),
      Uint8Array.of(0x33, 0x33),
      Uint8Array.of(0x28, 0x28),
      Uint8Array.of(0x0a, 0x0a),
    ],
  });
  expect(split(0, 0)).toEqual({ decimals: -4, planes: [Uint8Array.of(0, 0)] });
  expect(split()).toEqual({ decimals: -4, planes: [new Uint8Array(0)] });
});

Deno.test("numbers that would not come back to the last bit are not split", () => {
  expect(split(1, -0)).toBeNull();
  expect(split(1, -1)).toBeNull();
  expect(split(NaN)).toBeNull();
  expect(split(Infinity)).toBeNull();
  expect(split(1 / 3)).toBeNull();
  // 0.30000000000000004, as sums leave them behind.
  expect(split(0.1 + 0.2)).toBeNull();
  expect(split(1e-13)).toBeNull();
  // 2^48 is one more than six bytes hold, and with decimals it is sooner.
  expect(split(2 ** 48)).toBeNull();
  expect(split(2 ** 48 - 1)?.planes.length).toBe(6);
  expect(split(1e9, 1e-8)).toBeNull();
  expect(split(1e6, 1e-8)?.planes.length).toBe(6);
});

Deno.test("columns of every precision and size come back to the last bit", () => {
  let seed = 11;
  const random = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  for (let decimals = 0; decimals <= 12; decimals++) {
    for (const bits of [1, 8, 9, 16, 24, 31, 32, 33, 40, 47, 48]) {
      const parts = Number(`1e${decimals}`);
      const values = Float64Array.from({ length: 500 }, () => Math.floor(random() * 2 ** bits) / parts);
      expect(comeBack(values)).toEqual(values);
    }
  }
});
