/** Numbers that look random and follow from a seed. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  between(low: number, high: number): number;
  /** A whole number, both ends included. */
  whole(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(values: readonly [T, ...T[]]): T;
}

/** @param seed Any whole number; equal ones give equal numbers. @see splitmix32. */
export function randomFrom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const between = (low: number, high: number) => low + (high - low) * next();
  return {
    next,
    between,
    whole: (low, high) => Math.floor(between(low, high + 1)),
    chance: (probability) => next() < probability,
    pick: (values) => values[Math.floor(next() * values.length)] ?? values[0],
  };
}

/** A seed that depends on both numbers. */
export function mixSeeds(a: number, b: number): number {
  return Math.imul(a ^ 0x5bd1e995, 0x27d4eb2f) ^ Math.imul(b + 0x165667b1, 0x9e3779b1);
}
