import type { TrialColumns } from "../../db/codec/trial_rows.ts";

/** A place in a list: the value that decides it, null where the trial has none, and the trial's own place. */
export interface Place {
  readonly value: number | null;
  readonly place: number;
}

/** A place in a list, and where its trial is stored. */
export interface StoredPlace extends Place {
  /** The first place of its chunk. */
  readonly first: number;
}

interface Order {
  readonly isRising: boolean;
  /** The place behind which the list goes on. */
  readonly from: Place | undefined;
  readonly count: number;
}

/**
 * The first trials of a list, in its order, of any number of trials that are shown one by one. Trials without a value are last in both
 * orders; equal ones are in the order of their places.
 */
export class FirstPlaces {
  readonly #from: Place | undefined;
  readonly #count: number;
  readonly #sign: number;
  /** A heap of kept trials by #isBehind(): the last one of the list is at its root. NaN stands for no value. */
  readonly #values: Float64Array;
  readonly #places: Float64Array;
  readonly #firsts: Float64Array;
  #size = 0;

  constructor({ isRising, from, count }: Order) {
    this.#sign = isRising ? 1 : -1;
    this.#from = from;
    this.#count = count;
    this.#values = new Float64Array(count);
    this.#places = new Float64Array(count);
    this.#firsts = new Float64Array(count);
  }

  /** Looks at the trials of a chunk. @param column The metric, or `place`. */
  add({ first, count, columns }: TrialColumns, column: string): void {
    const places = columns.place!;
    const values = columns[column];
    const fromValue = this.#from?.value ?? NaN;
    const fromPlace = this.#from?.place ?? -1;
    for (let row = 0; row < count; row++) {
      const value = values === undefined ? NaN : values[row]!;
      const place = places[row]!;
      if (this.#from !== undefined && !this.#isBehind(value, place, fromValue, fromPlace)) continue;
      if (this.#size < this.#count) this.#push(value, place, first);
      else if (this.#isBehind(this.#values[0]!, this.#places[0]!, value, place)) this.#sink(0, value, place, first);
    }
  }

  /** The kept trials, in the order of the list. */
  take(): StoredPlace[] {
    const rows = Array.from({ length: this.#size }, (_, i) => i);
    return rows.sort((a, b) => this.#isKeptBehind(a, b) ? 1 : -1).map((i) => {
      const value = this.#values[i]!;
      return { value: Number.isNaN(value) ? null : value, place: this.#places[i]!, first: this.#firsts[i]! };
    });
  }

  /** True if the first of two different trials is behind the second. */
  #isBehind(value: number, place: number, otherValue: number, otherPlace: number): boolean {
    const [isNone, isOtherNone] = [Number.isNaN(value), Number.isNaN(otherValue)];
    if (isNone !== isOtherNone) return isNone;
    if (isNone || value === otherValue) return place > otherPlace;
    return this.#sign * (value - otherValue) > 0;
  }

  #push(value: number, place: number, first: number): void {
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBehind(value, place, this.#values[parent]!, this.#places[parent]!)) break;
      this.#move(parent, at);
      at = parent;
    }
    this.#set(at, value, place, first);
  }

  /** Puts a trial instead of one of the heap, whose children are before it in the list or change places with it. */
  #sink(start: number, value: number, place: number, first: number): void {
    let at = start;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#isKeptBehind(child + 1, child)) child++;
      if (!this.#isBehind(this.#values[child]!, this.#places[child]!, value, place)) break;
      this.#move(child, at);
      at = child;
    }
    this.#set(at, value, place, first);
  }

  #isKeptBehind(a: number, b: number): boolean {
    return this.#isBehind(this.#values[a]!, this.#places[a]!, this.#values[b]!, this.#places[b]!);
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#values[from]!, this.#places[from]!, this.#firsts[from]!);
  }

  #set(at: number, value: number, place: number, first: number): void {
    this.#values[at] = value;
    this.#places[at] = place;
    this.#firsts[at] = first;
  }
}
