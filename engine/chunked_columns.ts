const CHUNK_BITS = 10;
const CHUNK_ROWS = 1 << CHUNK_BITS;
/** Without padding the columns of a row lie 8 KB apart and compete for the same cache lines. */
const CHUNK_PADDING = 8;

type Column = Float64Array | Int32Array | Int8Array | Uint8Array;

/** Allocates columns of `rows` zeros: each in its own memory, or all in one buffer. */
export class ColumnMemory {
  readonly rows: number;
  readonly #buffer: ArrayBuffer | null;
  #used = 0;

  constructor(rows: number, buffer: ArrayBuffer | null) {
    this.rows = rows;
    this.#buffer = buffer;
  }

  doubles(): Float64Array {
    return this.#buffer === null
      ? new Float64Array(this.rows)
      : new Float64Array(this.#buffer, this.#take(8), this.rows);
  }

  integers(): Int32Array {
    return this.#buffer === null ? new Int32Array(this.rows) : new Int32Array(this.#buffer, this.#take(4), this.rows);
  }

  /** Values -1 and 1. */
  sides(): Int8Array {
    return this.#buffer === null ? new Int8Array(this.rows) : new Int8Array(this.#buffer, this.#take(1), this.rows);
  }

  /** Indexes into a list, and flags. */
  codes(): Uint8Array {
    return this.#buffer === null ? new Uint8Array(this.rows) : new Uint8Array(this.#buffer, this.#take(1), this.rows);
  }

  #take(bytesPerRow: number): number {
    const at = this.#used;
    this.#used += bytesPerRow * this.rows;
    return at;
  }
}

/**
 * Columns to which rows are only added. They lie in chunks, so that a long log is never copied to make room. Each chunk is
 * one buffer: dozens of small ones take longer to allocate than to fill.
 */
export class ChunkedColumns<C extends object & Readonly<Record<keyof C, Column>>> {
  count = 0;
  readonly #chunks: C[] = [];
  readonly #create: (memory: ColumnMemory) => C;
  readonly #bytesPerRow: number;

  /** @param create Creates the columns, always the same ones in the same order. */
  constructor(create: (memory: ColumnMemory) => C) {
    this.#create = create;
    const columns: Column[] = Object.values(create(new ColumnMemory(0, null)));
    this.#bytesPerRow = columns.reduce((bytes, column) => bytes + column.BYTES_PER_ELEMENT, 0);
  }

  /** Adds a row of zeros and returns its number. */
  append(): number {
    if ((this.count & (CHUNK_ROWS - 1)) === 0) this.#addChunk();
    return this.count++;
  }

  /** The columns that hold a row, at `placeOf(row)`. */
  chunkOf(row: number): C {
    return this.#chunks[row >> CHUNK_BITS]!;
  }

  /** All rows, each column in its own memory. */
  gather(): C {
    const all = this.#create(new ColumnMemory(this.count, null));
    const columns: Column[] = Object.values(all);
    for (const [c, chunk] of this.#chunks.entries()) {
      const begin = c * CHUNK_ROWS;
      const rows = Math.min(CHUNK_ROWS, this.count - begin);
      const parts: Column[] = Object.values(chunk);
      for (const [k, column] of columns.entries()) column.set(parts[k]!.subarray(0, rows), begin);
    }
    return all;
  }

  #addChunk(): void {
    const rows = CHUNK_ROWS + CHUNK_PADDING;
    this.#chunks.push(this.#create(new ColumnMemory(rows, new ArrayBuffer(rows * this.#bytesPerRow))));
  }
}

/** The place of a row in the columns of its chunk. */
export function placeOf(row: number): number {
  return row & (CHUNK_ROWS - 1);
}
