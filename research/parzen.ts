import { normalProbability } from "../engine/metrics/moments.ts";
import type { Random } from "./numbers/random_numbers.ts";
import { type Axis, isOrdered } from "./space.ts";

/** The densities below are relative to one step of an axis. */
interface Kernel {
  readonly place: number;
  /** The kernel's deviation in steps. */
  readonly width: number;
  /** The share of the normal distribution between the ends of the axis. */
  readonly mass: number;
}

/**
 * Parzen estimator of where on an axis the observed places lie: the mean of one kernel for each observation and of an
 * even density. On an ordered axis a kernel is a normal density, cut off half a step beyond the ends, as wide as the
 * larger distance to the next observed place, from one step to the whole axis; elsewhere it is its own place alone.
 *
 * @see J. Bergstra, R. Bardenet, Y. Bengio, B. Kégl (2011), "Algorithms for Hyper-Parameter Optimization", NIPS 24: 4.2.
 */
export class ParzenEstimator {
  readonly #count: number;
  readonly #kernels: readonly Kernel[];
  readonly #isOrdered: boolean;

  /** @param places On the axis, in any order. */
  constructor(axis: Axis, places: readonly number[]) {
    this.#count = axis.count;
    this.#isOrdered = isOrdered(axis);
    const sorted = places.toSorted((a, b) => a - b);
    this.#kernels = sorted.map((place, i) => {
      const below = sorted[i - 1] ?? -0.5;
      const above = sorted[i + 1] ?? axis.count - 0.5;
      const width = Math.min(Math.max(place - below, above - place, 1), axis.count);
      return {
        place,
        width,
        mass: this.#massBelow(axis.count - 0.5, place, width) - this.#massBelow(-0.5, place, width),
      };
    });
  }

  /** The density at a place: more than 0, and about 1 in sum. */
  at(place: number): number {
    let total = 1 / this.#count;
    for (const { place: centre, width, mass } of this.#kernels) {
      if (!this.#isOrdered) {
        total += place === centre ? 1 : 0;
        continue;
      }
      const distance = (place - centre) / width;
      total += Math.exp(-distance * distance / 2) / (Math.sqrt(2 * Math.PI) * width * mass);
    }
    return total / (this.#kernels.length + 1);
  }

  /** A place at random: that of a kernel or, as often as any one kernel, anywhere. */
  draw(random: Random): number {
    const kernel = this.#kernels[random.below(this.#kernels.length + 1)];
    if (kernel === undefined) return random.below(this.#count);
    if (!this.#isOrdered) return kernel.place;
    for (;;) {
      const place = Math.round(kernel.place + kernel.width * random.normal());
      if (place >= 0 && place < this.#count) return place;
    }
  }

  #massBelow(point: number, place: number, width: number): number {
    return normalProbability((point - place) / width);
  }
}
