const CHUNK_BITS = 11;
const CHUNK_ROWS = 1 << CHUNK_BITS;

/**
 * Numbers from one field of a row to the next: field f of a row that begins at `at` is `data[at + f * FIELD_STRIDE]`. A
 * cache line more than the rows of a chunk, or else the fields of one row would contend for the same place in the cache.
 */
export const FIELD_STRIDE = CHUNK_ROWS + 8;

/**
 * Rows of numbers that are only ever added: in chunks, so that a long log is never copied to make room. Inside a chunk
 * each field lies together, as it does in the columns that a run ends with.
 */
export class RowLog {
  /** The chunk that the last row lies in; `append` says where. */
  data = new Float64Array(0);
  count = 0;
  readonly #chunks: Float64Array[] = [];

  constructor(readonly width: number) {}

  /** Adds a row, whose fields are for the caller to write, all of them. Returns where it begins in `data`. */
  append(): number {
    const at = this.count & (CHUNK_ROWS - 1);
    if (at === 0) {
      this.data = new Float64Array(FIELD_STRIDE * this.width);
      this.#chunks.push(this.data);
    }
    this.count++;
    return at;
  }

  get(row: number, field: number): number {
    return this.#chunks[row >> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) + field * FIELD_STRIDE]!;
  }

  set(row: number, field: number, value: number): void {
    this.#chunks[row >> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) + field * FIELD_STRIDE] = value;
  }

  /** One field of the rows that `order` names, in that order, or of all rows in theirs. */
  column(field: number, order: Uint32Array | null): Float64Array {
    if (order === null) return this.#copy(field, new Float64Array(this.count));
    const values = new Float64Array(this.count);
    for (let k = 0; k < values.length; k++) values[k] = this.get(order[k]!, field);
    return values;
  }

  /** A field of small whole numbers, as `column` gives it: at most 255, and from 0. */
  codes(field: number, order: Uint32Array | null): Uint8Array {
    if (order === null) return this.#copy(field, new Uint8Array(this.count));
    return new Uint8Array(this.column(field, order));
  }

  #copy<T extends Float64Array | Uint8Array>(field: number, values: T): T {
    for (let c = 0; c < this.#chunks.length; c++) {
      const begin = c * CHUNK_ROWS;
      const rows = Math.min(CHUNK_ROWS, this.count - begin);
      const from = field * FIELD_STRIDE;
      values.set(this.#chunks[c]!.subarray(from, from + rows), begin);
    }
    return values;
  }
}
