import { decompress } from "lzma1";

/** Bytes that are no LZMA file, or a damaged one. */
class LzmaError extends Error {
  override readonly name = "LzmaError";
}

// One byte of properties, four of the dictionary's size, eight of the unpacked size; all little-endian.
const DICTIONARY_AT = 1;
const SIZE_AT = 5;
const HEADER_BYTES = 13;
// lc 3, lp 0, pb 2: every common packer writes these, and others would cost the decoder more memory.
const PROPERTIES = 0x5d;
const SIZE_UNKNOWN = 0xffff_ffff_ffff_ffffn;
// The decoder holds four bytes of the file at a time.
const PADDING_BYTES = 8;

/**
 * Unpacks an LZMA file of the old kind (".lzma", "LZMA alone"), in time and memory that `bytesMax` bounds whatever the file says.
 *
 * lzma1 does not notice that a file is cut off: it goes on with made-up bytes. Here the end is followed once by the lowest bytes and once
 * by the highest. A range decoder is monotonic, so both give the same bytes only if no bytes that are missing could change them.
 *
 * @param bytesMax The largest unpacked size that is accepted.
 * @throws {LzmaError}
 * @see Igor Pavlov, "LZMA specification (draft)", 2015.
 */
export function unpackLzma(packed: Uint8Array, bytesMax: number): Uint8Array {
  if (packed.length <= HEADER_BYTES || packed[0] !== PROPERTIES) {
    throw new LzmaError(`Cannot unpack ${packed.length} bytes that do not begin like an LZMA file`);
  }
  const declared = new DataView(packed.buffer, packed.byteOffset).getBigUint64(SIZE_AT, true);
  const size = declared === SIZE_UNKNOWN ? null : declared;
  if (size !== null && size > bytesMax) {
    throw new LzmaError(`Cannot unpack a file of ${size} bytes: it may have at most ${bytesMax}`);
  }
  const unpacked = decode(packed, size, bytesMax, 0x00);
  const length = size ?? unpacked.length;
  if (unpacked.length > bytesMax || BigInt(unpacked.length) !== BigInt(length)) {
    throw new LzmaError(`Cannot unpack a file of ${size ?? `at most ${bytesMax}`} bytes: it has ${unpacked.length}`);
  }
  const again = decode(packed, size, bytesMax, 0xff);
  if (again.length !== unpacked.length || again.some((byte, i) => byte !== unpacked[i])) {
    throw new LzmaError(`Cannot unpack ${packed.length} bytes: the file is cut off`);
  }
  return unpacked;
}

function decode(packed: Uint8Array, size: bigint | null, bytesMax: number, padding: number): Uint8Array {
  const file = new Uint8Array(packed.length + PADDING_BYTES).fill(padding, packed.length);
  file.set(packed);
  const header = new DataView(file.buffer);
  // The decoder allocates a dictionary of the declared size, and decodes without a limit where no size is declared.
  header.setUint32(DICTIONARY_AT, bytesMax, true);
  header.setBigUint64(SIZE_AT, size ?? BigInt(bytesMax) + 1n, true);
  try {
    return decompress(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new LzmaError(`Cannot unpack ${packed.length} bytes: ${reason}`, { cause: error });
  }
}
