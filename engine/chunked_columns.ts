const CHUNK_BITS = 12;
const CHUNK_ROWS = 1 << CHUNK_BITS;
/** Or else the columns of one row would contend for the same place in the cache, 16 KB from one to the next. */
const CHUNK_PADDING = 8;

type Column = Float64Array | Int32Array | Int8Array | Uint8Array;

/** Rows of columns that are only ever added: in chunks, so that a long log is never copied to make room. */
export class ChunkedColumns<C extends object & Readonly<Record<keyof C, Column>>> {
  count = 0;
  readonly #chunks: C[] = [];
  readonly #create: (rows: number) => C;

  /** @param create Makes empty columns of so many rows, always in the same order. */
  constructor(create: (rows: number) => C) {
    this.#create = create;
  }

  /** Adds a row of zeros and returns its number. */
  append(): number {
    if ((this.count & (CHUNK_ROWS - 1)) === 0) this.#chunks.push(this.#create(CHUNK_ROWS + CHUNK_PADDING));
    return this.count++;
  }

  /** The columns that hold a row; it stands in them at `placeOf(row)`. */
  chunkOf(row: number): C {
    return this.#chunks[row >> CHUNK_BITS]!;
  }

  /** All rows in one piece. */
  gather(): C {
    const all = this.#create(this.count);
    const columns: Column[] = Object.values(all);
    for (const [c, chunk] of this.#chunks.entries()) {
      const begin = c * CHUNK_ROWS;
      const rows = Math.min(CHUNK_ROWS, this.count - begin);
      const parts: Column[] = Object.values(chunk);
      for (const [k, column] of columns.entries()) column.set(parts[k]!.subarray(0, rows), begin);
    }
    return all;
  }
}

/** Where a row stands in the columns of its chunk. */
export function placeOf(row: number): number {
  return row & (CHUNK_ROWS - 1);
}
