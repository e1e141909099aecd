import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  RecordBatchReader,
  RecordBatchStreamWriter,
  Schema,
  Struct,
} from "apache-arrow";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

const CHUNK_BYTES_MAX = 1 << 20;
// What zstd adds to data that it cannot make smaller, besides a 256th.
const FRAME_BYTES = 128;

/** Columns of equal length by name. */
export type Columns = Readonly<Record<string, Float64Array>>;

/**
 * Columns as an Arrow IPC stream of one record batch, not compressed: what any Arrow reader opens.
 *
 * @throws {RangeError} When the columns differ in length, or there is none.
 */
export function encodeArrow(columns: Columns): Uint8Array {
  const names = Object.keys(columns);
  const rows = columns[names[0] ?? ""]?.length;
  if (rows === undefined) throw new RangeError("Cannot encode no columns at all");
  const fields = names.map((name) => new Field(name, new Float64(), false));
  const children = Object.values(columns).map((data) => {
    if (data.length !== rows) throw new RangeError(`Cannot encode columns of ${rows} and ${data.length} rows together`);
    return makeData({ type: new Float64(), length: rows, nullCount: 0, data });
  });
  const rowsData = makeData({ type: new Struct(fields), length: rows, nullCount: 0, children });
  const writer = new RecordBatchStreamWriter();
  writer.write(new RecordBatch(new Schema(fields), rowsData));
  writer.finish();
  return writer.toUint8Array(true);
}

/**
 * Columns as a zstd-compressed Arrow IPC stream. The same columns always give the same bytes.
 *
 * @throws {RangeError} When the columns differ in length, or there is none.
 */
export function encodeColumns(columns: Columns): Uint8Array {
  const arrow = encodeArrow(columns);
  // The frame carries a checksum, so that a flipped bit is an error and never a wrong price.
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  // Node reserves a whole chunk before it begins: one that fits what cannot be compressed is enough, and quicker for short runs.
  const chunkSize = Math.min(CHUNK_BYTES_MAX, arrow.byteLength + (arrow.byteLength >> 8) + FRAME_BYTES);
  return zstdCompressSync(arrow, { params, pledgedSrcSize: arrow.byteLength, chunkSize });
}

/**
 * What `encodeColumns` was given. The columns are views of one buffer that nobody else holds.
 *
 * @throws {Error} "Cannot read columns: ..." when the bytes are damaged, cut off or something else.
 */
export function decodeColumns(bytes: Uint8Array): Record<string, Float64Array> {
  try {
    const columns: Record<string, Float64Array> = {};
    const reader = RecordBatchReader.from(zstdDecompressSync(bytes, { chunkSize: 1 << 18 })).open();
    const schema = reader.schema;
    const [batch] = [...reader];
    schema.fields.forEach((field, index) => {
      const values: unknown = batch === undefined ? new Float64Array(0) : batch.data.children[index]?.values;
      if (!(values instanceof Float64Array)) throw new TypeError(`column ${field.name} holds no 64-bit numbers`);
      columns[field.name] = values.subarray(0, batch?.numRows ?? 0);
    });
    return columns;
  } catch (error) {
    throw new Error(`Cannot read columns: ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
