import {
  Bool,
  type Data,
  type DataType,
  Field,
  Float64,
  Int32,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import type { Column } from "./table_format.ts";

const TWO_32 = 2 ** 32;
const END_BYTES = 8;
const PREFIX_BYTES = 8;

const TYPES: Readonly<Record<Column["kind"], DataType>> = {
  time: new TimestampMillisecond("UTC"),
  number: new Float64(),
  integer: new Int32(),
  boolean: new Bool(),
  text: new Utf8(),
};

/** The values of a column: doubles for times (milliseconds since 1970) and numbers, or any that its kind has. */
export type ArrowValues = Float64Array | readonly unknown[];

/**
 * Rows as an Arrow IPC stream, a record batch at a time.
 *
 * A stream is a sequence of messages: the schema, the batches, an end marker.
 *
 * @see https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
 */
export class ArrowWriter {
  readonly #schema: Schema;
  readonly #fields: Field[];

  /** @param about The schema's metadata. */
  constructor(columns: readonly Column[], about: Readonly<Record<string, string>>) {
    this.#fields = columns.map(({ name, kind, isNullable }) => new Field(name, TYPES[kind], isNullable));
    this.#schema = new Schema(this.#fields, new Map(Object.entries(about)));
  }

  /** The first message: the schema. */
  start(): Uint8Array<ArrayBuffer> {
    const whole = this.#encode(0, this.#fields.map(() => []));
    return whole.slice(0, schemaBytes(whole));
  }

  /** @param values The columns, each of this length. */
  batch(length: number, values: readonly ArrowValues[]): Uint8Array<ArrayBuffer> {
    const whole = this.#encode(length, values);
    return whole.slice(schemaBytes(whole), whole.length - END_BYTES);
  }

  /** The end marker. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#encode(0, this.#fields.map(() => [])).slice(-END_BYTES);
  }

  #encode(length: number, values: readonly ArrowValues[]): Uint8Array<ArrayBuffer> {
    const children = this.#fields.map(({ type }, i) => toData(type, values[i]!));
    const data = makeData({ type: new Struct(this.#fields), length, nullCount: 0, children });
    const writer = new RecordBatchStreamWriter();
    writer.write(new RecordBatch(this.#schema, data));
    writer.finish();
    return new Uint8Array(writer.toUint8Array(true));
  }
}

function toData(type: DataType, values: ArrowValues): Data {
  if (!(values instanceof Float64Array)) return vectorFromArray(values, type).data[0] ?? makeData({ type, length: 0 });
  const { length } = values;
  return type instanceof Float64
    ? makeData({ type, length, nullCount: 0, data: values })
    : makeData({ type: new TimestampMillisecond("UTC"), length, nullCount: 0, data: toInt64(values) });
}

/** The length of the first message: a marker, the length of the metadata, and the metadata. A schema has no body. */
function schemaBytes(stream: Uint8Array<ArrayBuffer>): number {
  return PREFIX_BYTES + new DataView(stream.buffer, stream.byteOffset).getInt32(4, true);
}

/** Converts whole numbers to 64-bit integers without a BigInt each. */
function toInt64(numbers: Float64Array): BigInt64Array {
  const integers = new BigInt64Array(numbers.length);
  const halves = new Int32Array(integers.buffer);
  numbers.forEach((number, i) => {
    const high = Math.floor(number / TWO_32);
    halves[i * 2] = (number - high * TWO_32) | 0;
    halves[i * 2 + 1] = high;
  });
  return integers;
}
