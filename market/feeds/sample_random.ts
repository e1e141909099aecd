/** The numbers of invented markets: integer and IEEE arithmetic alone, so that they are equal on every machine. */

/** The multiple of a step that is nearest to a value. @param step One of a whole number of parts of 1, or 1. */
export function roundTo(value: number, step: number): number {
  // Dividing by a whole number gives the double nearest to the decimal; multiplying by 0.01 would not.
  const steps = Math.round(1 / step);
  return Math.round(value * steps) / steps;
}

/** Mulberry32, a small generator of 32-bit states (Tommy Ettinger, 2017, public domain). */
export class SampleRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  uniform(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Mean 0, variance 1, nearly normal: a sum of four uniforms (variance 4/12) needs no logarithm. */
  normal(): number {
    return (this.uniform() + this.uniform() + this.uniform() + this.uniform() - 2) * Math.sqrt(3);
  }
}
