/**
 * Random numbers that follow from a seed: equal seeds give equal numbers on any machine.
 *
 * @see D. Blackman, S. Vigna (2021), "Scrambled Linear Pseudorandom Number Generators": xoshiro128**.
 * @see G. Steele et al. (2014), "Fast Splittable Pseudorandom Number Generators": SplitMix fills the state.
 */
export class Random {
  readonly #state = new Uint32Array(4);
  #spare = NaN;

  /** @param seed A whole number of at most 2^53 - 1 in magnitude. */
  constructor(seed: number) {
    // Both halves count, so that seeds above 2^32 are seeds of their own.
    let mixed = (seed | 0) ^ Math.imul(Math.floor(seed / 2 ** 32) | 0, 0x85ebca6b);
    for (let i = 0; i < 4; i++) {
      mixed = (mixed + 0x9e3779b9) | 0;
      let word = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      this.#state[i] = word ^ (word >>> 15);
    }
  }

  /** A whole number from 0 to 2^32 - 1. */
  word(): number {
    const state = this.#state;
    const product = Math.imul(state[1]!, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= shifted;
    state[3] = (state[3]! << 11) | (state[3]! >>> 21);
    return result;
  }

  /** A number from 0 to 1, without 1, of 53 random bits. */
  next(): number {
    return this.#bits() / 2 ** 53;
  }

  /** A whole number from 0 up to, not including, `count`; each is equally likely. @param count From 1 to 2^53. */
  below(count: number): number {
    if (count <= 2 ** 32) {
      const fair = 2 ** 32 - 2 ** 32 % count;
      let word = this.word();
      while (word >= fair) word = this.word();
      return word % count;
    }
    const fair = 2 ** 53 - 2 ** 53 % count;
    let bits = this.#bits();
    while (bits >= fair) bits = this.#bits();
    return bits % count;
  }

  /** A number of the standard normal distribution. @see G. Marsaglia, T. Bray (1964), the polar method. */
  normal(): number {
    const spare = this.#spare;
    this.#spare = NaN;
    if (!Number.isNaN(spare)) return spare;
    for (;;) {
      const [x, y] = [2 * this.next() - 1, 2 * this.next() - 1];
      const square = x * x + y * y;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt(-2 * Math.log(square) / square);
      this.#spare = y * scale;
      return x * scale;
    }
  }

  #bits(): number {
    return (this.word() >>> 5) * 2 ** 26 + (this.word() >>> 6);
  }
}
