const CHUNK_BITS = 11;
const CHUNK_ROWS = 1 << CHUNK_BITS;

/** Rows of numbers that are only ever added: in chunks, so that a long log is never copied to make room. */
export class RowLog {
  /** The chunk that the last row lies in; `append` says where. */
  data = new Float64Array(0);
  count = 0;
  readonly #chunks: Float64Array[] = [];

  constructor(readonly width: number) {}

  /** Adds a row, whose fields are for the caller to write, all of them. Returns where it begins in `data`. */
  append(): number {
    const at = (this.count & (CHUNK_ROWS - 1)) * this.width;
    if (at === 0) {
      this.data = new Float64Array(CHUNK_ROWS * this.width);
      this.#chunks.push(this.data);
    }
    this.count++;
    return at;
  }

  get(row: number, field: number): number {
    return this.#chunks[row >> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) * this.width + field]!;
  }

  set(row: number, field: number, value: number): void {
    this.#chunks[row >> CHUNK_BITS]![(row & (CHUNK_ROWS - 1)) * this.width + field] = value;
  }

  /** One field of the rows that `order` names, in that order, or of all rows in theirs. */
  column(field: number, order: Uint32Array | null): Float64Array {
    const { count, width } = this;
    const values = new Float64Array(count);
    if (order !== null) {
      for (let k = 0; k < count; k++) values[k] = this.get(order[k]!, field);
      return values;
    }
    let k = 0;
    for (const chunk of this.#chunks) {
      for (let at = field; at < chunk.length && k < count; at += width, k++) values[k] = chunk[at]!;
    }
    return values;
  }
}
