import { expect } from "@std/expect";
import { compress } from "lzma1";
import { decompressLzma, LzmaError } from "../../../market/feeds/lzma.ts";

// "hindcast " twenty times and a newline, packed by `xz --format=lzma` 5.4.1: of unknown size, ended by a marker.
const BY_XZ = "XQAAgAD//////////wA0Gkoe9iSJbhguifKxDS0z///6uMAA";

const text = new TextEncoder().encode(`${"hindcast ".repeat(20)}\n`);
const fromBase64 = (base64: string) => Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));

/** Bytes that neither repeat nor are all different, always the same. */
function noise(length: number, kinds: number): Uint8Array {
  let seed = length;
  return Uint8Array.from({ length }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed >>> 16) % kinds;
  });
}

Deno.test("what xz packed is unpacked", () => {
  expect(decompressLzma(fromBase64(BY_XZ), 1_000)).toEqual(text);
});

Deno.test("what another library packed is unpacked, whatever is in it", () => {
  for (
    const bytes of [
      text,
      new Uint8Array(40_000),
      noise(20_000, 256),
      noise(20_000, 3),
      Uint8Array.from({ length: 34_560 }, (_, i) => (i % 24 < 16 ? i >> 8 : i * 7)),
      noise(1, 9),
    ]
  ) expect(decompressLzma(Uint8Array.from(compress(bytes)), 100_000)).toEqual(bytes);
});

Deno.test("damaged files throw and do not loop, wherever they are cut or changed", () => {
  const packed = Uint8Array.from(compress(noise(2_000, 5)));
  for (let length = 0; length < packed.length - 8; length += 7) {
    expect(() => decompressLzma(packed.subarray(0, length), 10_000)).toThrow(LzmaError);
  }
  for (let at = 0; at < packed.length; at += 3) {
    const damaged = Uint8Array.from(packed);
    damaged[at]! ^= 0x55;
    try {
      expect(decompressLzma(damaged, 10_000).length).toBeLessThanOrEqual(10_000);
    } catch (error) {
      expect(error).toBeInstanceOf(LzmaError);
    }
  }
  expect(() => decompressLzma(new TextEncoder().encode("<html>404 not found</html>"), 1_000)).toThrow(LzmaError);
  expect(() => decompressLzma(Uint8Array.from(compress(new Uint8Array(5_000))), 4_999)).toThrow("at most 4999");
});
