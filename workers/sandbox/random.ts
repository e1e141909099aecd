/** Random numbers from a seed, to choose samples. @see G. Steele et al. (2014), SplitMix; 32-bit form. */
export class Random {
  #state: number;

  /** @param seed An unsigned 32-bit number. */
  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return Math.floor(((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32 * count);
  }
}
