/**
 * Messages between a process and its sandbox: JSON, with the columns as bytes beside it.
 *
 * A frame is two unsigned 32-bit numbers (length of the head, length of the body), the head, the body. The head is
 * `{value, columns}` in JSON; each column names its place in `value` and its bytes in the body. Reading a frame copies no column,
 * and, unlike a structured clone, runs no native code of the runtime on bytes that a sandbox sent.
 */

const KINDS = {
  Int8Array,
  Uint8Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float64Array,
} as const;

type Kind = keyof typeof KINDS;
type Column = InstanceType<(typeof KINDS)[Kind]>;

interface Place {
  readonly path: readonly string[];
  readonly kind: Kind;
  readonly offset: number;
  readonly length: number;
  /** The column holds indexes into these texts. */
  readonly texts?: readonly (string | null)[];
}

/** Bytes before the head: two unsigned 32-bit numbers, little-endian. */
export const FRAME_PREFIX_BYTES = 8;
const COLUMN_ALIGN_BYTES = 8;
// Shorter lists of texts are as quick in JSON.
const TEXTS_MIN = 64;

/** A message as pieces of bytes, to be written in this order. Only columns in shared memory are copied. */
export function encodeFrame(message: object): Uint8Array<ArrayBuffer>[] {
  const places: Place[] = [];
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  const keep = (path: readonly string[], column: Column, texts?: readonly (string | null)[]): null => {
    const bytes = bytesOf(column);
    const padding = -bytes.length & (COLUMN_ALIGN_BYTES - 1);
    const place = { path, kind: kindOf(column), offset, length: column.length };
    places.push(texts === undefined ? place : { ...place, texts });
    pieces.push(bytes, new Uint8Array(padding));
    offset += bytes.length + padding;
    return null;
  };
  const value = takeColumns(message, [], keep);
  const head = new TextEncoder().encode(JSON.stringify({ value, columns: places }));
  const prefix = new Uint8Array(new Uint32Array([head.length, offset]).buffer);
  return [prefix, head, ...pieces.filter((piece) => piece.length > 0)];
}

/** Bounds of what a reader builds from a frame, beyond its bytes. */
export interface FrameBounds {
  /** Values in the head's JSON, one of two bytes of which takes a hundred in memory. */
  readonly valuesMax: number;
  /** Rows of all columns of texts, each of four bytes. */
  readonly textRowsMax: number;
}

const UNBOUNDED: FrameBounds = { valuesMax: Infinity, textRowsMax: Infinity };

/** The lengths in the first FRAME_PREFIX_BYTES bytes of a frame. */
export function readPrefix(prefix: Uint8Array): { readonly headBytes: number; readonly bodyBytes: number } {
  const view = new DataView(prefix.buffer, prefix.byteOffset);
  return { headBytes: view.getUint32(0, true), bodyBytes: view.getUint32(4, true) };
}

/**
 * The message of a frame. Its columns lie one behind the other in the body, so that none of them is shown twice, and each takes the place
 * of a null of the message's own. The shape of the message is not checked.
 *
 * @param bounds Looked at before there is memory for what they bound; default: none.
 * @throws {RangeError | SyntaxError} When the frame is damaged, or beyond its bounds.
 */
export function decodeFrame<Message>(head: Uint8Array, body: ArrayBuffer, bounds: FrameBounds = UNBOUNDED): Message {
  if (bounds.valuesMax < Infinity) requireFewValues(head, bounds.valuesMax);
  const frame: { value: Message; columns: Place[] } = JSON.parse(new TextDecoder().decode(head));
  let end = 0;
  let textRows = 0;
  for (const { path, kind, offset, length, texts } of frame.columns) {
    if (offset !== end || !Object.hasOwn(KINDS, kind)) {
      throw new RangeError("Cannot read a frame: a column is not in its place");
    }
    const column = new KINDS[kind](body, offset, length);
    end += column.byteLength + (-column.byteLength & (COLUMN_ALIGN_BYTES - 1));
    if (texts !== undefined && kind !== "Uint32Array") {
      throw new RangeError("Cannot read a frame: texts have no numbers");
    }
    if (texts !== undefined && (textRows += length) > bounds.textRowsMax) {
      throw new RangeError(`Cannot read a frame: its texts have more than ${bounds.textRowsMax} rows`);
    }
    fill(frame, ["value", ...path], texts === undefined ? column : Array.from(column, (index) => texts[index] ?? null));
  }
  return frame.value;
}

const [QUOTE, COMMA, LIST, BACKSLASH, OBJECT] = [...'",[\\{'].map((letter) => letter.charCodeAt(0));

/** Counts at least half of the values in a JSON text, and no more than there are. */
function requireFewValues(json: Uint8Array, most: number): void {
  let count = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) at += Number(byte === BACKSLASH);
    else count += Number(byte === COMMA || byte === LIST || byte === OBJECT);
  }
  if (count > most) throw new RangeError(`Cannot read a frame: its JSON has more than ${most} values`);
}

type Keep = (path: readonly string[], column: Column, texts?: readonly (string | null)[]) => null;

/** A copy of the value for JSON, with null in the place of each column. */
function takeColumns(value: unknown, path: readonly string[], keep: Keep): unknown {
  if (isColumn(value)) return keep(path, value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    if (value.length >= TEXTS_MIN && value.every(isText)) return keepTexts(value, path, keep);
    return value.map((member, index) => takeColumns(member, [...path, String(index)], keep));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, takeColumns(member, [...path, key], keep)]),
  );
}

/** Orders have few different tags, so each is written once. */
function keepTexts(list: readonly (string | null)[], path: readonly string[], keep: Keep): null {
  const numbers = new Map<string | null, number>();
  const indexes = new Uint32Array(list.length);
  list.forEach((text, row) => {
    const index = numbers.get(text) ?? numbers.size;
    numbers.set(text, index);
    indexes[row] = index;
  });
  return keep(path, indexes, [...numbers.keys()]);
}

function isText(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

function isColumn(value: unknown): value is Column {
  return ArrayBuffer.isView(value) && Object.values(KINDS).some((kind) => value instanceof kind);
}

function kindOf(column: Column): Kind {
  if (column instanceof Float64Array) return "Float64Array";
  if (column instanceof Int32Array) return "Int32Array";
  if (column instanceof Uint32Array) return "Uint32Array";
  if (column instanceof Uint16Array) return "Uint16Array";
  return column instanceof Int8Array ? "Int8Array" : "Uint8Array";
}

/** A column's bytes. Pipes refuse shared memory, so that is copied. */
function bytesOf(column: Column): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = column;
  if (buffer instanceof ArrayBuffer) return new Uint8Array(buffer, byteOffset, byteLength);
  const copy = new Uint8Array(byteLength);
  copy.set(new Uint8Array(buffer, byteOffset, byteLength));
  return copy;
}

/** Puts a value where the message has null. Only its own members are looked at: `__proto__` is none. */
function fill(root: object, path: readonly string[], value: unknown): void {
  let place = root;
  for (const key of path.slice(0, -1)) {
    const next: unknown = Object.hasOwn(place, key) ? Reflect.get(place, key) : null;
    if (typeof next !== "object" || next === null) throw new RangeError(`Cannot read a frame: it has no ${key}`);
    place = next;
  }
  const last = path.at(-1) ?? "";
  if (!Object.hasOwn(place, last) || Reflect.get(place, last) !== null) {
    throw new RangeError(`Cannot read a frame: it has no place ${last}`);
  }
  Object.defineProperty(place, last, { value, writable: true, enumerable: true, configurable: true });
}
