import { expect } from "@std/expect";
import { withCanonicalNaN } from "../../engine/canonical_nan.ts";

Deno.test("every NaN of a result has the same bits, whatever calculation produced it", () => {
  const negative = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0000n]).buffer);
  const payload = new Float64Array(new BigUint64Array([0x7ff8_0000_0000_0001n]).buffer);
  const { a, b, c } = withCanonicalNaN({ a: negative, b: payload, c: Float64Array.of(-0, 1.5) });
  const bitsOf = (column: Float64Array) => [...new BigUint64Array(column.buffer)];
  expect([bitsOf(a), bitsOf(b)]).toEqual([[0x7ff8_0000_0000_0000n], [0x7ff8_0000_0000_0000n]]);
  expect([...c]).toEqual([-0, 1.5]);
});
