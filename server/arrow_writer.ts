import {
  Field,
  Float64,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  Schema,
  Struct,
  TimestampMillisecond,
} from "apache-arrow";

const TWO_32 = 2 ** 32;
const END_BYTES = 8;
const PREFIX_BYTES = 8;

/**
 * Rows as an Arrow IPC stream, a record batch at a time: `timestamp` (milliseconds, UTC) and columns of 64-bit numbers.
 *
 * A stream is a sequence of messages: the schema, the batches, an end marker.
 *
 * @see https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
 */
export class ArrowWriter {
  readonly #schema: Schema;
  readonly #fields: Field[];
  readonly #nothing: Float64Array[];

  /** @param about The schema's metadata. */
  constructor(names: readonly string[], about: Readonly<Record<string, string>>) {
    this.#fields = [
      new Field("timestamp", new TimestampMillisecond("UTC"), false),
      ...names.map((name) => new Field(name, new Float64(), false)),
    ];
    this.#schema = new Schema(this.#fields, new Map(Object.entries(about)));
    this.#nothing = names.map(() => NONE);
  }

  /** The first message: the schema. */
  start(): Uint8Array<ArrayBuffer> {
    const whole = this.#encode(NONE, this.#nothing);
    return whole.slice(0, schemaBytes(whole));
  }

  /** @param values The named columns, each as long as `time`. */
  batch(time: Float64Array, values: readonly Float64Array[]): Uint8Array<ArrayBuffer> {
    const whole = this.#encode(time, values);
    return whole.slice(schemaBytes(whole), whole.length - END_BYTES);
  }

  /** The end marker. */
  end(): Uint8Array<ArrayBuffer> {
    return this.#encode(NONE, this.#nothing).slice(-END_BYTES);
  }

  #encode(time: Float64Array, values: readonly Float64Array[]): Uint8Array<ArrayBuffer> {
    const length = time.length;
    const timestamps = makeData({ type: new TimestampMillisecond("UTC"), length, nullCount: 0, data: toInt64(time) });
    const numbers = values.map((data) => makeData({ type: new Float64(), length, nullCount: 0, data }));
    const children = [timestamps, ...numbers];
    const data = makeData({ type: new Struct(this.#fields), length, nullCount: 0, children });
    const writer = new RecordBatchStreamWriter();
    writer.write(new RecordBatch(this.#schema, data));
    writer.finish();
    return new Uint8Array(writer.toUint8Array(true));
  }
}

const NONE = new Float64Array(0);

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
