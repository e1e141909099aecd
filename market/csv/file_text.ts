import { CsvError } from "./csv_error.ts";
import { findPacking, type Packing, unpack } from "./packing.ts";

/** How a file's characters are written. */
export const ENCODINGS = ["utf-8", "utf-16le", "utf-16be"] as const;
export type Encoding = (typeof ENCODINGS)[number];

const PIECE_BYTES_MIN = 16_384;
const PIECE_BYTES_MAX = 65_536;
const HEAD_BYTES = 4;
// So long may a file hold the thread that answers others; one turn of its loop costs about a millisecond.
const WORK_MS_MAX = 10;

/** The file is too large. */
export class ImportTooLargeError extends Error {
  override readonly name = "ImportTooLargeError";
  constructor(readonly bytesMax: number) {
    super(`Cannot import more than ${bytesMax} bytes: split the file, or raise IMPORT_BYTES_MAX`);
  }
}

/** The text of a file that arrives in pieces: unpacked, and as UTF-8. */
export class FileText {
  /** Known with the first piece. */
  packing: Packing | null = null;
  encoding: Encoding = "utf-8";

  /** @param bytesMax The largest size of the file, packed and unpacked. */
  constructor(private readonly body: AsyncIterable<Uint8Array>, private readonly bytesMax: number) {}

  /** Pieces of at most 64 KiB; between them other tasks have a turn. @throws {ImportTooLargeError | CsvError} */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const { head, all } = await peek(limit(this.body, this.bytesMax));
    this.packing = findPacking(head);
    const isPacked = this.packing !== null;
    const text = this.packing === null ? { head, all } : await peek(limit(unpack(this.packing, all), this.bytesMax));
    if (isPacked && findPacking(text.head) !== null) {
      throw new CsvError("Cannot unpack an archive within an archive: unpack it first");
    }
    this.encoding = findEncoding(text.head);
    yield* takeTurns(resize(this.encoding === "utf-8" ? text.all : decode(text.all, this.encoding)));
  }
}

async function* limit(pieces: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > bytesMax) throw new ImportTooLargeError(bytesMax);
    yield piece;
  }
}

/** The first bytes of a stream, and the stream with them. */
async function peek(pieces: AsyncGenerator<Uint8Array>) {
  let head: Uint8Array = new Uint8Array(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await pieces.next();
    if (done === true) break;
    head = concat([head, value], head.length + value.length);
  }
  const all = async function* () {
    if (head.length > 0) yield head;
    yield* pieces;
  };
  return { head, all: all() };
}

/** By its byte order mark, or by the zero beside an ASCII character. */
function findEncoding(head: Uint8Array): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  if (head[0] === 0xfe && head[1] === 0xff) return "utf-16be";
  if (head[0] !== 0 && head[1] === 0 && head[3] === 0) return "utf-16le";
  return head[0] === 0 && head[1] !== 0 && head[2] === 0 ? "utf-16be" : "utf-8";
}

async function* decode(pieces: AsyncIterable<Uint8Array>, encoding: Encoding): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  const encoder = new TextEncoder();
  for await (const piece of pieces) yield encoder.encode(decoder.decode(piece, { stream: true }));
  yield encoder.encode(decoder.decode());
}

/** Joins small pieces and cuts large ones: a file that arrives byte by byte is not slower to read. */
async function* resize(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let small: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      small.push(piece);
      bytes += piece.length;
      if (bytes < PIECE_BYTES_MIN) continue;
      const joined = small.length === 1 ? piece : concat(small, bytes);
      [small, bytes] = [[], 0];
      for (let at = 0; at < joined.length; at += PIECE_BYTES_MAX) yield joined.subarray(at, at + PIECE_BYTES_MAX);
    }
  } catch (error) {
    // An upload that breaks off leaves what arrived of it.
    yield concat(small, bytes);
    throw error;
  }
  yield concat(small, bytes);
}

/** Lets other tasks have a turn between pieces: promises that are resolved already never let a timer or a socket have theirs. */
async function* takeTurns(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let turn = performance.now();
  for await (const piece of pieces) {
    if (performance.now() - turn > WORK_MS_MAX) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      turn = performance.now();
    }
    yield piece;
  }
}

/** The pieces as one. @param length Of all of them. */
export function concat(
  pieces: readonly Uint8Array[],
  length = pieces.reduce((sum, piece) => sum + piece.length, 0),
): Uint8Array {
  const joined = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}
