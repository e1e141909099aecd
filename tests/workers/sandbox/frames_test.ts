import { expect } from "@std/expect";
import {
  decodeFrame,
  encodeFrame,
  FRAME_PREFIX_BYTES,
  type FrameBounds,
  readPrefix,
} from "../../../workers/sandbox/frames.ts";

Deno.test("a message arrives unchanged, its columns with their types and bits", () => {
  const message = {
    type: "completed",
    nothing: null,
    nested: {
      list: [1, "two", { three: Float64Array.of(1.5, -0, Infinity) }],
      bytes: Uint8Array.of(1, 2, 3),
      sides: Int8Array.of(-1, 1),
      candles: Int32Array.of(-7),
      empty: new Uint32Array(0),
    },
    tag: ["a", null],
  };
  expect(roundTrip(message)).toEqual(message);
});

Deno.test("the bits of a NaN arrive, and so does a column that is a part of a larger one", () => {
  const bits = new BigUint64Array([0x7ff8_0000_dead_beefn, 1n, 2n]);
  const middle = new Float64Array(bits.buffer, 8, 1);
  const back = roundTrip({ all: new Float64Array(bits.buffer), middle });
  expect([...new BigUint64Array(back.all.slice().buffer)]).toEqual([...bits]);
  expect([...back.middle]).toEqual([...middle]);
});

Deno.test("each text of a long list is written once", () => {
  const tags = Array.from({ length: 100_000 }, (_, i) => i % 3 === 0 ? null : `tag ${i % 3}`);
  const pieces = encodeFrame({ tags });
  expect(pieces[1]!.length).toBeLessThan(200);
  expect(roundTrip({ tags })).toEqual({ tags });
});

Deno.test("columns in shared memory are copied", () => {
  const shared = new Float64Array(new SharedArrayBuffer(16));
  shared.set([3, 4]);
  const back = roundTrip({ shared });
  shared[0] = 9;
  expect([...back.shared]).toEqual([3, 4]);
});

Deno.test("a frame that would build more than its bounds is refused", () => {
  const few = { valuesMax: 20, textRowsMax: 100 };
  const words = 'a "word", [two] and \\ {three}, ,,,,,,,,,,,,,,,,,,,,';
  expect(roundTrip({ words, list: [1, { two: 2 }] }, few)).toEqual({ words, list: [1, { two: 2 }] });
  expect(() => roundTrip({ list: Array(21).fill(0) }, few)).toThrow("its JSON has more than 20 values");
  expect(() => roundTrip({ list: Array(21).fill({}) }, few)).toThrow("its JSON has more than 20 values");
  expect(roundTrip({ texts: Array(100).fill("a") }, few)).toEqual({ texts: Array(100).fill("a") });
  const twice = { first: Array(64).fill("a"), second: Array(64).fill("b") };
  expect(() => roundTrip(twice, { ...few, valuesMax: 40 })).toThrow("its texts have more than 100 rows");
});

Deno.test("keys such as __proto__ have no special meaning", () => {
  const message: object = JSON.parse('{"columns":[],"value":1,"__proto__":{"polluted":true},"path":["a"]}');
  expect(JSON.stringify(roundTrip(message))).toBe(JSON.stringify(message));
  expect(Reflect.get({}, "polluted")).toBeUndefined();
});

Deno.test("a column outside the body is refused", () => {
  const head = (place: object) =>
    new TextEncoder().encode(
      JSON.stringify({ value: { a: null }, columns: [{ path: ["a"], kind: "Float64Array", ...place }] }),
    );
  expect(() => decodeFrame(head({ offset: 0, length: 3 }), new ArrayBuffer(16))).toThrow(RangeError);
  expect(() => decodeFrame(head({ offset: 4, length: 1 }), new ArrayBuffer(16))).toThrow(RangeError);
  expect(() => decodeFrame(head({ offset: 0, length: 1, path: ["b", "c"] }), new ArrayBuffer(16))).toThrow("has no b");
  expect(() => decodeFrame(new TextEncoder().encode("{"), new ArrayBuffer(0))).toThrow(SyntaxError);
});

function roundTrip<Message extends object>(message: Message, bounds?: FrameBounds): Message {
  const [prefix, head, ...body] = encodeFrame(message);
  expect(prefix!.length).toBe(FRAME_PREFIX_BYTES);
  const { headBytes, bodyBytes } = readPrefix(prefix!);
  expect(head!.length).toBe(headBytes);
  const bytes = new Uint8Array(bodyBytes);
  let at = 0;
  for (const piece of body) {
    bytes.set(piece, at);
    at += piece.length;
  }
  expect(at).toBe(bodyBytes);
  return decodeFrame<Message>(head!, bytes.buffer, bounds);
}
