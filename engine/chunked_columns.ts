const CHUNK_BITS = 10;
const CHUNK_ROWS = 1 << CHUNK_BITS;
/** Or else the columns of one row would contend for the same place in the cache, 8 KB from one to the next. */
const CHUNK_PADDING = 8;

type Column = Float64Array | Int32Array | Int8Array | Uint8Array;

/** Hands out columns of so many rows, all zero: each in memory of its own, or all in one piece. */
export class ColumnMemory {
  readonly rows: number;
  readonly #piece: ArrayBuffer | null;
  #used = 0;

  constructor(rows: number, piece: ArrayBuffer | null) {
    this.rows = rows;
    this.#piece = piece;
  }

  doubles(): Float64Array {
    return this.#piece === null ? new Float64Array(this.rows) : new Float64Array(this.#piece, this.#take(8), this.rows);
  }

  integers(): Int32Array {
    return this.#piece === null ? new Int32Array(this.rows) : new Int32Array(this.#piece, this.#take(4), this.rows);
  }

  /** -1 and 1. */
  sides(): Int8Array {
    return this.#piece === null ? new Int8Array(this.rows) : new Int8Array(this.#piece, this.#take(1), this.rows);
  }

  /** Indexes into a list, and flags. */
  codes(): Uint8Array {
    return this.#piece === null ? new Uint8Array(this.rows) : new Uint8Array(this.#piece, this.#take(1), this.rows);
  }

  #take(bytesPerRow: number): number {
    const at = this.#used;
    this.#used += bytesPerRow * this.rows;
    return at;
  }
}

/**
 * Rows of columns that are only ever added: in chunks, so that a long log is never copied to make room, and each chunk in
 * one piece, since dozens of small pieces of memory take longer to get than to fill.
 */
export class ChunkedColumns<C extends object & Readonly<Record<keyof C, Column>>> {
  count = 0;
  readonly #chunks: C[] = [];
  readonly #create: (memory: ColumnMemory) => C;
  readonly #bytesPerRow: number;

  /** @param create Makes the columns, always the same ones in the same order. */
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

  /** The columns that hold a row; it stands in them at `placeOf(row)`. */
  chunkOf(row: number): C {
    return this.#chunks[row >> CHUNK_BITS]!;
  }

  /** All rows, each column in memory of its own. */
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

/** Where a row stands in the columns of its chunk. */
export function placeOf(row: number): number {
  return row & (CHUNK_ROWS - 1);
}
