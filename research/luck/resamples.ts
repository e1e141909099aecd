import { Random } from "../numbers/random_numbers.ts";
import { drawStationaryBlocks } from "../monte_carlo/resampling.ts";

/** The mean length of blocks: the cube root of the days, rounded. */
export function blockDaysOf(days: number): number {
  return Math.max(1, Math.round(Math.cbrt(days)));
}

/**
 * Draws resamples by the stationary bootstrap: the days of each, the same for all trials, so that their correlation stays.
 *
 * @param seed Each resample has random numbers of its own: those of `seed + resample`.
 * @see D. N. Politis, J. P. Romano (1994), "The Stationary Bootstrap", Journal of the American Statistical Association 89.
 */
export function drawResamples(
  count: number,
  days: number,
  seed: number,
  blockDays = blockDaysOf(days),
): Int32Array[] {
  return Array.from({ length: count }, (_, resample) => {
    const drawn = new Int32Array(days);
    drawStationaryBlocks(days, blockDays, new Random(seed + resample), drawn);
    return drawn;
  });
}

/**
 * How much less a mean of resamples deviates than one of new days: blocks are drawn from the days themselves, whose mean is taken off, so
 * that the days of a block make up for each other.
 *
 * @returns The factor that makes up for it, 1 or a little more. It is exact for days that do not depend on each other: the expectation of
 *   the variance in lemma 1 of Politis and Romano.
 * @see D. N. Politis, J. P. Romano (1994), "The Stationary Bootstrap", Journal of the American Statistical Association 89.
 */
export function wideningOf(days: number, blockDays = blockDaysOf(days)): number {
  const stay = 1 - 1 / blockDays;
  let together = 1;
  for (let lag = 1; lag < days; lag++) together += 2 * (1 - lag / days) * stay ** lag;
  return 1 / Math.sqrt(1 - together / days);
}

/** Stretches of days that follow each other: the first one and the one behind the last, in turn. */
export function toStretches(drawn: Int32Array): Int32Array {
  const stretches: number[] = [];
  for (let i = 0; i < drawn.length;) {
    const first = drawn[i]!;
    let end = first;
    while (i < drawn.length && drawn[i] === end) {
      end++;
      i++;
    }
    stretches.push(first, end);
  }
  return Int32Array.from(stretches);
}
