import { type BufferPool, takeBuffer } from "./buffer_pool.ts";

const CHUNK_BITS = 10;
const CHUNK_ROWS = 1 << CHUNK_BITS;
/** Without padding the columns of a row lie 8 KB apart and compete for the same cache lines. */
const CHUNK_PADDING = 8;

type Column = Float64Array | Int32Array | Int8Array | Uint8Array;

/** Columns of `rows` values, which are arbitrary until they are written: each in its own memory, or all in one buffer. */
export class ColumnMemory {
  readonly rows: number;
  readonly #pool: BufferPool | null;
  readonly #shared: ArrayBuffer | null;
  #used = 0;

  /** @param pool Gives each column its memory, unless all columns lie in the buffer `shared`. */
  constructor(rows: number, pool: BufferPool | null, shared: ArrayBuffer | null = null) {
    this.rows = rows;
    this.#pool = pool;
    this.#shared = shared;
  }

  doubles(): Float64Array {
    const { buffer, offset } = this.#place(8);
    return new Float64Array(buffer, offset, this.rows);
  }

  integers(): Int32Array {
    const { buffer, offset } = this.#place(4);
    return new Int32Array(buffer, offset, this.rows);
  }

  /** Values -1 and 1. */
  sides(): Int8Array {
    const { buffer, offset } = this.#place(1);
    return new Int8Array(buffer, offset, this.rows);
  }

  /** Indexes into a list, and flags. */
  codes(): Uint8Array {
    const { buffer, offset } = this.#place(1);
    return new Uint8Array(buffer, offset, this.rows);
  }

  #place(bytesPerRow: number): { readonly buffer: ArrayBuffer; readonly offset: number } {
    const bytes = bytesPerRow * this.rows;
    if (this.#shared === null) return { buffer: takeBuffer(this.#pool, bytes), offset: 0 };
    const offset = this.#used;
    this.#used += bytes;
    return { buffer: this.#shared, offset };
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
  readonly #pool: BufferPool | null;

  /** @param create Creates the columns, always the same ones in the same order. */
  constructor(create: (memory: ColumnMemory) => C, pool: BufferPool | null) {
    this.#pool = pool;
    this.#create = create;
    const columns: Column[] = Object.values(create(new ColumnMemory(0, null)));
    this.#bytesPerRow = columns.reduce((bytes, column) => bytes + column.BYTES_PER_ELEMENT, 0);
  }

  /** Adds a row and returns its number. The caller writes all of its values: they are arbitrary before. */
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
    const all = this.#create(new ColumnMemory(this.count, this.#pool));
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
    this.#chunks.push(this.#create(new ColumnMemory(rows, null, takeBuffer(this.#pool, rows * this.#bytesPerRow))));
  }
}

/** The place of a row in the columns of its chunk. */
export function placeOf(row: number): number {
  return row & (CHUNK_ROWS - 1);
}
