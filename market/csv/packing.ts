import { Buffer } from "node:buffer";
import { pipeline, Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { Unzip, type UnzipFile, UnzipInflate } from "fflate";
import { CsvError } from "./csv_error.ts";

/** How a file is compressed. */
export const PACKINGS = ["gzip", "zip"] as const;
export type Packing = (typeof PACKINGS)[number];

// Deflate makes at most 1,032 bytes of one, so a slice unpacks to some four megabytes at most.
const SLICE_BYTES = 4_096;
const NAME_LENGTH_MAX = 60;

/** The compression that a file's first four bytes announce; null for a text. */
export function findPacking(head: Uint8Array): Packing | null {
  if (head[0] === 0x1f && head[1] === 0x8b) return "gzip";
  const isZip = head[0] === 0x50 && head[1] === 0x4b && (head[2] === 0x03 || head[2] === 0x05);
  return isZip ? "zip" : null;
}

/**
 * Unpacks a file as it arrives, in memory that does not grow with what it unpacks to.
 *
 * @throws {CsvError} For a damaged file, and for an archive that does not hold exactly one file.
 */
export function unpack(packing: Packing, pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  return packing === "gzip" ? gunzip(pieces) : unzip(pieces);
}

async function* gunzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  // A fault of the source is the source's own; zlib's are faults of the file.
  let fault: unknown = null;
  const source = Readable.from(rememberFault(pieces, (error) => fault = error));
  const unpacked = createGunzip({ chunkSize: 65_536 });
  pipeline(source, unpacked, () => {});
  try {
    for await (const piece of unpacked) if (piece instanceof Buffer) yield piece;
  } catch (error) {
    throw fault ?? damaged("gzip file", error);
  } finally {
    source.destroy();
  }
}

async function* rememberFault<T>(pieces: AsyncIterable<T>, remember: (error: unknown) => void): AsyncGenerator<T> {
  try {
    yield* pieces;
  } catch (error) {
    remember(error);
    throw error;
  }
}

async function* unzip(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const archive = new ZipArchive();
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += SLICE_BYTES) {
      yield* archive.push(piece.subarray(at, at + SLICE_BYTES), false);
    }
  }
  yield* archive.push(new Uint8Array(0), true);
  archive.end();
}

/** The one file of a zip archive; folders and the hidden files of desktops do not count. */
class ZipArchive {
  readonly #unzip = new Unzip((file) => this.#open(file));
  readonly #unpacked: Uint8Array[] = [];
  #name: string | null = null;
  #fault: Error | null = null;

  constructor() {
    this.#unzip.register(UnzipInflate);
  }

  push(packed: Uint8Array, isLast: boolean): Uint8Array[] {
    try {
      this.#unzip.push(packed, isLast);
    } catch (error) {
      this.#fault ??= damaged("zip archive", error);
    }
    if (this.#fault !== null) throw this.#fault;
    return this.#unpacked.splice(0);
  }

  end(): void {
    if (this.#name === null) throw new CsvError("Cannot import a zip archive without a file: put one file into it");
  }

  #open(file: UnzipFile): void {
    const isFile = !file.name.endsWith("/") && !/(^|\/)(__MACOSX\/|\.)/.test(file.name);
    if (isFile) this.#choose(file.name);
    let length = 0;
    file.ondata = (error, data, isLast) => {
      if (error !== null) return void (this.#fault ??= damaged("zip archive", error));
      length += data.length;
      if (isLast && file.originalSize !== undefined && length !== file.originalSize) {
        this.#fault ??= damaged("zip archive", `it holds ${length} bytes and announces ${file.originalSize}`);
      }
      if (isFile) this.#unpacked.push(data);
    };
    // An entry that is not started would be kept in memory.
    file.start();
  }

  #choose(name: string): void {
    if (name === "[Content_Types].xml") this.#fault ??= new CsvError("Cannot import a workbook: save it as CSV");
    if (this.#name !== null) {
      const names = [this.#name, name].map((each) => JSON.stringify(each.slice(0, NAME_LENGTH_MAX))).join(" and ");
      this.#fault ??= new CsvError(`Cannot import an archive of several files, ${names}: send them one by one`);
    }
    this.#name = name;
  }
}

function damaged(kind: string, cause: unknown): CsvError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CsvError(`Cannot unpack the ${kind}, which is damaged or cut short (${reason}): send it again`, { cause });
}
