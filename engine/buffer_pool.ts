import type { ColumnCache } from "./column_cache.ts";

/** Smaller buffers are created faster than they are found. */
const BUFFER_BYTES_MIN = 1 << 15;

/**
 * Memory that the runs of a long-lived worker use in turn. New memory costs a run as much as its indicators: the kernel
 * clears each page at its first use.
 *
 * A run takes its columns from the pool. Afterwards `reclaim` takes them all back, except for the result's, which belong
 * to the result alone until their owner gives them away with `add`.
 */
export class BufferPool {
  readonly #bytesMax: number;
  readonly #bufferBytesMin: number;
  /** Unused buffers, the longest unused first. */
  readonly #free: ArrayBuffer[] = [];
  #freeBytes = 0;
  readonly #taken = new Set<ArrayBuffer>();
  /** Indicators that the runs until it is set again share; null: each computes its own. */
  columns: ColumnCache | null = null;

  /** @param bytesMax Unused memory beyond this is released. @param bufferBytesMin Smaller buffers are always new. */
  constructor(bytesMax: number, bufferBytesMin = BUFFER_BYTES_MIN) {
    this.#bytesMax = bytesMax;
    this.#bufferBytesMin = bufferBytesMin;
  }

  /** Hands out a buffer of at least `bytes`. It may hold values of an earlier run. */
  take(bytes: number): ArrayBuffer {
    if (bytes < this.#bufferBytesMin) return new ArrayBuffer(bytes);
    const buffer = this.#removeFitting(bytes) ?? new ArrayBuffer(bytes);
    this.#taken.add(buffer);
    return buffer;
  }

  /** Takes back every buffer that was handed out since the last call, except for those that leave with a result. */
  reclaim(leaving: ReadonlySet<ArrayBuffer> = new Set()): void {
    for (const buffer of this.#taken) {
      if (!leaving.has(buffer)) this.add(buffer);
    }
    this.#taken.clear();
  }

  /** Takes back a column before the end of its run: nobody reads it any more. Columns that are not out of the pool stay as they are. */
  giveBack({ buffer }: Float64Array): void {
    if (buffer instanceof ArrayBuffer && this.#taken.delete(buffer)) this.add(buffer);
  }

  /** Adds a buffer that nobody reads any more. */
  add(buffer: ArrayBuffer): void {
    if (buffer.byteLength < this.#bufferBytesMin) return;
    this.#free.push(buffer);
    this.#freeBytes += buffer.byteLength;
    while (this.#freeBytes > this.#bytesMax) this.#freeBytes -= this.#free.shift()?.byteLength ?? 0;
  }

  /** The smallest unused buffer that is large enough; none that is more than twice as large. */
  #removeFitting(bytes: number): ArrayBuffer | null {
    let best = -1;
    let bestBytes = 2 * bytes + 1;
    for (let k = 0; k < this.#free.length; k++) {
      const { byteLength } = this.#free[k]!;
      if (byteLength < bytes || byteLength >= bestBytes) continue;
      best = k;
      bestBytes = byteLength;
    }
    if (best < 0) return null;
    this.#freeBytes -= bestBytes;
    return this.#free.splice(best, 1)[0] ?? null;
  }
}

/** A buffer of at least `bytes`: out of the pool, with arbitrary content, or new and all 0 without a pool. */
function takeBuffer(pool: BufferPool | null, bytes: number): ArrayBuffer {
  return pool === null ? new ArrayBuffer(bytes) : pool.take(bytes);
}

/** A column of `count` numbers. The caller writes each of them: they are arbitrary before. */
export function takeDoubles(pool: BufferPool | null, count: number): Float64Array {
  return new Float64Array(takeBuffer(pool, count * Float64Array.BYTES_PER_ELEMENT), 0, count);
}

/** Like takeDoubles, for 32-bit integers. */
export function takeIntegers(pool: BufferPool | null, count: number): Int32Array {
  return new Int32Array(takeBuffer(pool, count * Int32Array.BYTES_PER_ELEMENT), 0, count);
}

/** Like takeDoubles, for the values -1 and 1. */
export function takeSides(pool: BufferPool | null, count: number): Int8Array {
  return new Int8Array(takeBuffer(pool, count), 0, count);
}

/** Like takeDoubles, for indexes into a list and for flags. */
export function takeCodes(pool: BufferPool | null, count: number): Uint8Array {
  return new Uint8Array(takeBuffer(pool, count), 0, count);
}

/** The buffers of all columns in a value; without shared memory. */
export function buffersOf(value: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(value)) {
    if (value.buffer instanceof ArrayBuffer) found.add(value.buffer);
  } else if (typeof value === "object" && value !== null) {
    // A list of tags may be long and hold no column: it is not copied.
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      if (typeof member === "object" && member !== null) buffersOf(member, found);
    }
  }
  return found;
}

/** An indicator of one column and a period. */
type Indicator = (values: Float64Array, period: number, pool: BufferPool | null) => Float64Array;

/**
 * An indicator of candles that its reader leaves as it is: one that another run has computed, where the pool shares them. Candles are in
 * shared memory and never change; other columns, which the next run writes again, are not shared.
 */
export function sharedColumn(
  indicator: Indicator,
  values: Float64Array,
  period: number,
  pool: BufferPool | null = null,
): Float64Array {
  const columns = pool?.columns ?? null;
  if (columns === null || !(values.buffer instanceof SharedArrayBuffer)) return indicator(values, period, pool);
  return columns.get(indicator.name, values, period, () => indicator(values, period, null));
}
