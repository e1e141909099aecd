import { expect } from "@std/expect";
import { compress, decompress } from "lzma1";
import { unpackLzma } from "../../../market/feeds/unpack_lzma.ts";

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

Deno.test("unpackLzma() unpacks a file of xz", () => {
  expect(unpackLzma(fromBase64(BY_XZ), 1_000)).toEqual(text);
});

Deno.test("unpackLzma() unpacks files of every kind of content", () => {
  for (
    const bytes of [
      text,
      new Uint8Array(40_000),
      noise(20_000, 256),
      noise(20_000, 3),
      Uint8Array.from({ length: 34_560 }, (_, i) => (i % 24 < 16 ? i >> 8 : i * 7)),
      noise(1, 9),
    ]
  ) expect(unpackLzma(Uint8Array.from(compress(bytes)), 100_000)).toEqual(bytes);
});

Deno.test("unpackLzma() refuses a file that is cut or changed anywhere, and ends", () => {
  const packed = Uint8Array.from(compress(noise(2_000, 5)));
  for (let length = 0; length < packed.length - 8; length += 7) {
    expect(() => unpackLzma(packed.subarray(0, length), 10_000)).toThrow("Cannot unpack");
  }
  for (let at = 0; at < packed.length; at += 3) {
    const damaged = Uint8Array.from(packed);
    damaged[at]! ^= 0x55;
    try {
      expect(unpackLzma(damaged, 10_000).length).toBeLessThanOrEqual(10_000);
    } catch (error) {
      expect(error).toMatchObject({ name: "LzmaError" });
    }
  }
  expect(() => unpackLzma(new TextEncoder().encode("<html>404 not found</html>"), 1_000)).toThrow("Cannot unpack");
  expect(() => unpackLzma(Uint8Array.from(compress(new Uint8Array(5_000))), 4_999)).toThrow("at most 4999");
});

/** A file without an end marker, as Dukascopy packs: the decoder stops at the declared size. */
function withoutMarker(packed: Uint8Array, size: number): Uint8Array {
  const file = Uint8Array.from(packed);
  new DataView(file.buffer).setBigUint64(5, BigInt(size), true);
  return file;
}

Deno.test("unpackLzma() refuses a cut file even where the decoder makes up bytes of the declared size", () => {
  const bytes = noise(600, 40);
  const packed = withoutMarker(Uint8Array.from(compress(bytes)), bytes.length);
  let made = 0;
  for (let length = 14; length < packed.length - 8; length++) {
    const cut = packed.subarray(0, length);
    expect(() => unpackLzma(cut, 10_000)).toThrow("Cannot unpack");
    try {
      if (decompress(cut).length === bytes.length) made++;
    } catch {
      // The decoder noticed by itself.
    }
  }
  // Otherwise this test shows nothing.
  expect(made).toBeGreaterThan(0);
});

Deno.test("unpackLzma() obeys its limit and not the header", () => {
  const bomb = Uint8Array.from(compress(new Uint8Array(5_000_000)));
  const claim = (offset: number, value: bigint) => {
    const file = Uint8Array.from(bomb);
    new DataView(file.buffer).setBigUint64(offset, value, true);
    return file;
  };
  expect(() => unpackLzma(claim(5, 1n << 60n), 1_000)).toThrow(
    `a file of ${1n << 60n} bytes: it may have at most 1000`,
  );
  // Of unknown size, and of a size that is too small.
  for (const size of [0xffff_ffff_ffff_ffffn, 500n]) {
    const begun = performance.now();
    expect(() => unpackLzma(claim(5, size), 1_000)).toThrow("Cannot unpack");
    expect(performance.now() - begun).toBeLessThan(1_000);
  }
  // A dictionary of 4 GiB is not allocated, and one of 0 bytes does not matter.
  for (const dictionary of [0xffff_ffff, 0]) {
    const file = Uint8Array.from(compress(text));
    new DataView(file.buffer).setUint32(1, dictionary, true);
    expect(unpackLzma(file, 1_000)).toEqual(text);
  }
});
