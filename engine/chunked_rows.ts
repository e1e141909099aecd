import { type BufferPool, takeDoubles } from "./buffer_pool.ts";

const CHUNK_BITS = 10;
const CHUNK_ROWS = 1 << CHUNK_BITS;

/**
 * Rows of doubles, to which rows are only added. The values of a row lie side by side, so that writing it touches a cache
 * line or two. Rows lie in chunks, so that a long log is never copied to make room.
 */
export class ChunkedRows {
  count = 0;
  readonly #width: number;
  readonly #pool: BufferPool | null;
  readonly #chunks: Float64Array[] = [];

  /** @param width Values in a row. */
  constructor(width: number, pool: BufferPool | null) {
    this.#width = width;
    this.#pool = pool;
  }

  /** Adds a row and returns its number. The caller writes all of its values: they are arbitrary before. */
  append(): number {
    if ((this.count & (CHUNK_ROWS - 1)) === 0) this.#chunks.push(takeDoubles(this.#pool, CHUNK_ROWS * this.#width));
    return this.count++;
  }

  /** Forgets all rows, so that their memory can be freed. */
  clear(): void {
    this.count = 0;
    this.#chunks.length = 0;
  }

  /** The values that include a row's: its own begin at `placeOf(row)`. */
  chunkOf(row: number): Float64Array {
    return this.#chunks[row >> CHUNK_BITS]!;
  }

  placeOf(row: number): number {
    return (row & (CHUNK_ROWS - 1)) * this.#width;
  }
}
