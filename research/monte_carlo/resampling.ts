import type { Random } from "../numbers/random_numbers.ts";

/** Puts values into a random order, each equally likely. @see R. Durstenfeld (1964), "Algorithm 235: Random permutation". */
export function shuffle(values: Float64Array, random: Random): void {
  for (let i = values.length - 1; i > 0; i--) {
    const other = random.below(i + 1);
    const value = values[i]!;
    values[i] = values[other]!;
    values[other] = value;
  }
}

/** Draws each value from all of `values`, with replacement. */
export function resample(values: Float64Array, random: Random, to: Float64Array): void {
  for (let i = 0; i < to.length; i++) to[i] = values[random.below(values.length)]!;
}

/**
 * Draws indexes in blocks of consecutive ones: a block begins anywhere, its length is geometric, and after the last index
 * comes the first.
 *
 * @param count The indexes are those from 0 up to, not including, this one.
 * @param meanLength Of the blocks, 1 or more.
 * @see D. N. Politis, J. P. Romano (1994), "The Stationary Bootstrap", Journal of the American Statistical Association 89.
 */
export function drawStationaryBlocks(count: number, meanLength: number, random: Random, to: Int32Array): void {
  const continues = Math.log1p(-1 / meanLength);
  let left = 0;
  let index = -1;
  for (let i = 0; i < to.length; i++) {
    if (left === 0) {
      index = random.below(count);
      // 1 - next() is above 0, so that its logarithm is finite; a mean of 1 gives a length of 1.
      left = 1 + Math.floor(Math.log(1 - random.next()) / continues);
    } else index = index + 1 === count ? 0 : index + 1;
    to[i] = index;
    left--;
  }
}
