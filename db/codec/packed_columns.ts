/** Columns of a result as bytes. Light enough for the threads that run strategies: it needs no library. */
import { Buffer } from "node:buffer";
import { constants, zstdCompressSync } from "node:zlib";
import { findLines, joinLines } from "./lines.ts";
import { readTicks, type Ticks, writeTicks } from "./tick_planes.ts";

/** Columns of equal length by name. */
export type Columns = Readonly<Record<string, Float64Array>>;

/** The form of a column: stretches of equal steps, whole numbers of ticks, or doubles as they are. */
type Form =
  | ({ readonly name: string; readonly kind: "ticks" } & Ticks)
  | { readonly name: string; readonly kind: "lines"; readonly count: number }
  | { readonly name: string; readonly kind: "doubles" };

interface Header {
  readonly rows: number;
  readonly columns: readonly Form[];
}

// The first word of an Arrow stream, with which other columns begin.
const ARROW_WORD = 0xffffffff;
const WORD_BYTES = 4;
const DOUBLE_BYTES = 8;
// A line costs twenty bytes, a tick seldom more than two.
const ROWS_PER_LINE_MIN = 16;
/** zstd adds this and a 256th to data that it cannot compress. */
export const FRAME_BYTES = 128;
// Noise in the last digits hardly compresses further at higher levels, which take three times as long.
const LEVEL = 1;

/**
 * Packs columns: straight lines by their ends, short decimals as distances of whole numbers. Equal columns give equal bytes.
 *
 * @throws {RangeError} When the columns differ in length, or there are none.
 */
export function packColumns(columns: Columns): Uint8Array {
  const rows = Object.values(columns)[0]?.length;
  if (rows === undefined) throw new RangeError("Cannot pack columns: there are none");
  const forms: Form[] = [];
  const parts: Uint8Array[] = [];
  for (const [name, values] of Object.entries(columns)) {
    if (values.length !== rows) {
      throw new RangeError(`Cannot pack columns of ${rows} and ${values.length} rows together`);
    }
    const [form, bytes] = packColumn(name, values);
    forms.push(form);
    parts.push(...bytes);
  }
  const header = Buffer.from(JSON.stringify({ rows, columns: forms } satisfies Header));
  const word = Buffer.alloc(WORD_BYTES);
  word.writeUInt32LE(header.byteLength);
  const plain = Buffer.concat([word, header, ...parts]);
  // The frame carries a checksum, so that a flipped bit is an error and never a wrong price.
  const params = { [constants.ZSTD_c_checksumFlag]: 1, [constants.ZSTD_c_compressionLevel]: LEVEL };
  const chunkSize = plain.byteLength + (plain.byteLength >> 8) + FRAME_BYTES;
  // By a name, because the runtime's own declarations do not know the size yet.
  const options = { params, pledgedSrcSize: plain.byteLength, chunkSize };
  // A copy, because small results of Node share a buffer, and others lie in one that is too large.
  return new Uint8Array(zstdCompressSync(plain, options));
}

/** The first byte and the length of each frame of packFrames(), by its name. */
export type Frames = Readonly<Record<string, readonly [at: number, bytes: number]>>;

/** Packs groups of columns one behind the other, so that each can be read without the others. */
export function packFrames(
  groups: Readonly<Record<string, Columns>>,
): { readonly data: Uint8Array; readonly frames: Frames } {
  const frames: Record<string, readonly [at: number, bytes: number]> = {};
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const [name, columns] of Object.entries(groups)) {
    const part = packColumns(columns);
    frames[name] = [at, part.byteLength];
    parts.push(part);
    at += part.byteLength;
  }
  const data = new Uint8Array(at);
  parts.forEach((part, i) => data.set(part, Object.values(frames)[i]![0]));
  return { data, frames };
}

function packColumn(name: string, values: Float64Array): readonly [form: Form, bytes: readonly Uint8Array[]] {
  const lines = findLines(values, 1 + Math.floor(values.length / ROWS_PER_LINE_MIN));
  if (lines !== null) {
    const { firsts, steps, starts } = lines;
    return [{ name, kind: "lines", count: starts.length }, [firsts, steps, starts].map(bytesOf)];
  }
  const written = writeTicks(values);
  if (written !== null) return [{ name, kind: "ticks", ...written.ticks }, [written.bytes]];
  return [{ name, kind: "doubles" }, [bytesOf(values)]];
}

function bytesOf(values: Float64Array | Uint32Array): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

/** True if unpacked bytes are of packColumns(), and not an Arrow stream. */
export function isPacked(plain: Uint8Array): boolean {
  return plain.byteLength >= WORD_BYTES && Buffer.from(plain.buffer, plain.byteOffset, WORD_BYTES).readUInt32LE() !==
      ARROW_WORD;
}

/**
 * Reads the columns of packColumns().
 *
 * @param plain Its bytes, decompressed; their checksum has been verified.
 * @throws {Error} When the bytes are of another format.
 */
export function unpackColumns(plain: Uint8Array): Record<string, Float64Array> {
  const buffer = Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength);
  const bytes = new Uint8Array(plain.buffer, plain.byteOffset, plain.byteLength);
  const headerBytes = buffer.readUInt32LE();
  let at = WORD_BYTES + headerBytes;
  const { rows, columns }: Header = JSON.parse(buffer.toString("utf8", WORD_BYTES, at));
  const take = (count: number) => {
    if (at + count > bytes.length) throw new RangeError(`${at + count - bytes.length} bytes are missing`);
    // A copy, because columns of numbers must begin at multiples of their size.
    return bytes.slice(at, at += count);
  };
  const unpacked: Record<string, Float64Array> = {};
  for (const form of columns) {
    if (form.kind === "ticks") unpacked[form.name] = readTicks(form, rows, take);
    else if (form.kind === "lines") unpacked[form.name] = readLines(form.count, rows, take);
    else if (form.kind === "doubles") unpacked[form.name] = new Float64Array(take(rows * DOUBLE_BYTES).buffer);
    else throw new Error(`the form ${JSON.stringify(form)} is unknown`);
  }
  return unpacked;
}

function readLines(count: number, rows: number, take: (bytes: number) => Uint8Array<ArrayBuffer>): Float64Array {
  const firsts = new Float64Array(take(count * DOUBLE_BYTES).buffer);
  const steps = new Float64Array(take(count * DOUBLE_BYTES).buffer);
  const starts = new Uint32Array(take(count * WORD_BYTES).buffer);
  return joinLines({ firsts, steps, starts }, rows);
}
