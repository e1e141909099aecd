/**
 * Indicators of candles that many runs share, for as long as a slice of trials lasts. The same indicator of the same column with the same
 * period is one column, which its readers must not change.
 */
export class ColumnCache {
  readonly #bytesMax: number;
  readonly #columns = new Map<string, Float64Array>();
  readonly #names = new WeakMap<ArrayBufferLike, number>();
  #nextName = 0;
  #bytes = 0;

  /** @param bytesMax The longest held columns go first. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** The column of an indicator, computed at its first use. */
  get(indicator: string, values: Float64Array, period: number, compute: () => Float64Array): Float64Array {
    const key = [indicator, this.#nameOf(values.buffer), values.byteOffset, values.length, period].join();
    const held = this.#columns.get(key);
    if (held !== undefined) return held;
    const made = compute();
    this.#columns.set(key, made);
    this.#bytes += made.byteLength;
    for (const [oldest, { byteLength }] of this.#columns) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#columns.delete(oldest);
      this.#bytes -= byteLength;
    }
    return made;
  }

  #nameOf(buffer: ArrayBufferLike): number {
    const name = this.#names.get(buffer) ?? this.#nextName++;
    this.#names.set(buffer, name);
    return name;
  }
}
