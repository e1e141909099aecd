import {
  type Data,
  Field,
  Float64,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  Uint8,
} from "apache-arrow";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type DecimalPlanes, joinDecimals, splitDecimals } from "./decimal_planes.ts";
import { type Columns, FRAME_BYTES, type Frames, isPacked, unpackColumns } from "./packed_columns.ts";

export type { Columns };

const CHUNK_BYTES_MAX = 1 << 20;
// Unpacked columns are seldom larger, so one piece holds them.
const UNPACKED_RATIO = 4;
/** Shorter columns are not split: the names of the planes would take more space than the planes save. */
const SPLIT_ROWS_MIN = 1024;
/** Metadata of a field whose children are the bytes of whole numbers (see decimal_planes.ts). */
const DECIMALS = "decimals";

/**
 * Encodes columns as a zstd-compressed Arrow IPC stream; short decimals are split (see decimal_planes.ts). Equal columns give equal
 * bytes.
 *
 * @throws {RangeError} When the columns differ in length, or there are none.
 */
export function encodeColumns(columns: Columns): Uint8Array {
  const arrow = writeArrow(columns);
  // The frame carries a checksum, so that a flipped bit is an error and never a wrong price.
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  // Node allocates a whole chunk first. A chunk for incompressible data is enough, and quicker for short runs.
  const chunkSize = Math.min(CHUNK_BYTES_MAX, arrow.byteLength + (arrow.byteLength >> 8) + FRAME_BYTES);
  return zstdCompressSync(arrow, { params, pledgedSrcSize: arrow.byteLength, chunkSize });
}

/** Columns as an Arrow IPC stream of one record batch. */
function writeArrow(columns: Columns): Uint8Array {
  const names = Object.keys(columns);
  const length = columns[names[0] ?? ""]?.length;
  if (length === undefined) throw new RangeError("Cannot encode columns: there are none");
  const fields: Field[] = [];
  const children: Data[] = [];
  const own: Float64Array[] = [];
  for (const [name, given] of Object.entries(columns)) {
    if (given.length !== length) {
      throw new RangeError(`Cannot encode columns of ${length} and ${given.length} rows together`);
    }
    // Arrow joins buffers that overlap in memory, and the bytes of a column would be missing.
    const values = own.some((other) => overlap(other, given)) ? given.slice() : given;
    own.push(values);
    const planes = length < SPLIT_ROWS_MIN ? null : splitDecimals(values);
    const child = planes === null
      ? makeData({ type: new Float64(), length, nullCount: 0, data: values })
      : structOf(planes);
    const metadata = planes === null ? undefined : new Map([[DECIMALS, String(planes.decimals)]]);
    fields.push(new Field(name, child.type, false, metadata));
    children.push(child);
  }
  const rowsData = makeData({ type: new Struct(fields), length, nullCount: 0, children });
  const writer = new RecordBatchStreamWriter();
  writer.write(new RecordBatch(new Schema(fields), rowsData));
  writer.finish();
  return writer.toUint8Array(true);
}

function overlap(a: Float64Array, b: Float64Array): boolean {
  return a.buffer === b.buffer && a.byteOffset < b.byteOffset + b.byteLength &&
    b.byteOffset < a.byteOffset + a.byteLength;
}

function structOf({ planes }: DecimalPlanes): Data<Struct> {
  const length = planes[0]?.length ?? 0;
  const fields = planes.map((_, index) => new Field(`byte${index}`, new Uint8(), false));
  const children = planes.map((data) => makeData({ type: new Uint8(), length, nullCount: 0, data }));
  return makeData({ type: new Struct(fields), length, nullCount: 0, children });
}

/**
 * Decodes the bytes of `encodeColumns` or `packColumns`. Nobody else holds the columns' memory.
 *
 * @throws {Error} "Cannot read columns: ..." when the bytes are damaged, incomplete or of another format.
 */
export function decodeColumns(bytes: Uint8Array): Record<string, Float64Array> {
  try {
    // Node allocates a whole chunk, however few bytes come out.
    const chunkSize = Math.min(CHUNK_BYTES_MAX, UNPACKED_RATIO * bytes.byteLength + FRAME_BYTES);
    const plain = zstdDecompressSync(bytes, { chunkSize });
    if (isPacked(plain)) return unpackColumns(plain);
    const columns: Record<string, Float64Array> = {};
    const reader = RecordBatchReader.from(plain).open();
    const fields = reader.schema.fields;
    const [batch] = [...reader];
    fields.forEach((field, index) => {
      columns[field.name] = readColumn(field, batch?.data.children[index]).subarray(0, batch?.numRows ?? 0);
    });
    return columns;
  } catch (error) {
    throw new Error(`Cannot read columns: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}

/** Decodes all columns of packFrames(). @throws {Error} As decodeColumns(). */
export function decodeFrames(data: Uint8Array, frames: Frames): Record<string, Float64Array> {
  const columns: Record<string, Float64Array> = {};
  for (const [at, bytes] of Object.values(frames)) Object.assign(columns, decodeColumns(data.subarray(at, at + bytes)));
  return columns;
}

function readColumn(field: Field, data: Data | undefined): Float64Array {
  if (data === undefined) return new Float64Array(0);
  const decimals = field.metadata.get(DECIMALS);
  if (decimals === undefined) return requireValues(field, data, Float64Array);
  const planes = data.children.map((child) => requireValues(field, child, Uint8Array).subarray(0, data.length));
  const values = new Float64Array(data.length);
  joinDecimals({ decimals: Number(decimals), planes }, values);
  return values;
}

function requireValues<T>(field: Field, data: Data, type: new () => T): T {
  const values: unknown = data.values;
  if (values instanceof type) return values;
  throw new TypeError(`column ${field.name} does not hold its numbers as a ${type.name}`);
}
