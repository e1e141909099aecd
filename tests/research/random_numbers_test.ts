import { expect } from "@std/expect";
import { Random } from "../../research/numbers/random_numbers.ts";

function wordsOf(seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: 5 }, () => random.word());
}

/** xoshiro128** in arithmetic of any length, as its authors write it; the state is that of the seed 0. */
function referenceWords(): number[] {
  const mask = 0xffffffffn;
  const rotate = (x: bigint, k: bigint) => ((x << k) | (x >> (32n - k))) & mask;
  let mixed = 0n;
  const state = Array.from({ length: 4 }, () => {
    mixed = (mixed + 0x9e3779b9n) & mask;
    let word = ((mixed ^ (mixed >> 16n)) * 0x21f0aaadn) & mask;
    word = ((word ^ (word >> 15n)) * 0x735a2d97n) & mask;
    return word ^ (word >> 15n);
  });
  const [a, b, c, d] = [0, 1, 2, 3];
  return Array.from({ length: 5 }, () => {
    const result = (rotate((state[b]! * 5n) & mask, 7n) * 9n) & mask;
    const shifted = (state[b]! << 9n) & mask;
    state[c]! ^= state[a]!;
    state[d]! ^= state[b]!;
    state[b]! ^= state[c]!;
    state[a]! ^= state[d]!;
    state[c]! ^= shifted;
    state[d] = rotate(state[d]!, 11n);
    return Number(result);
  });
}

Deno.test("the words of a seed are those of the published generator", () => {
  expect(wordsOf(0)).toEqual(referenceWords());
  expect(wordsOf(1)).not.toEqual(wordsOf(2 ** 32 + 1));
  expect(wordsOf(1)).not.toEqual(wordsOf(-1));
});

Deno.test("numbers are even from 0 to 1, whole numbers even below a count, and normal ones have mean 0 and deviation 1", () => {
  const random = new Random(5);
  const numbers = Array.from({ length: 40_000 }, () => random.next());
  // The mean of n even numbers deviates by 0.289 / sqrt(n): 0.0014.
  expect(Math.abs(numbers.reduce((sum, each) => sum + each) / 40_000 - 0.5)).toBeLessThan(0.01);
  expect(numbers.every((each) => each >= 0 && each < 1)).toBe(true);
  const counts = [0, 0, 0];
  for (let i = 0; i < 30_000; i++) counts[random.below(3)]!++;
  for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  const large = Array.from({ length: 1_000 }, () => random.below(2 ** 53));
  expect(large.every(Number.isSafeInteger)).toBe(true);
  expect(large.filter((each) => each >= 2 ** 52).length).toBeGreaterThan(400);
  const normal = Array.from({ length: 40_000 }, () => random.normal());
  const squares = normal.reduce((sum, each) => sum + each * each, 0);
  expect(Math.abs(normal.reduce((sum, each) => sum + each) / 40_000)).toBeLessThan(0.03);
  expect(Math.abs(squares / 40_000 - 1)).toBeLessThan(0.05);
});
