/** What a list holds: its number rises from item to item and stays the same while it is listed. */
export interface Numbered {
  readonly number: number;
}

/**
 * Items in order of their numbers. What is taken out is handed out again: a run with a million orders leaves no garbage.
 */
export class NumberedList<T extends Numbered> {
  readonly #items: T[] = [];
  readonly #spare: T[] = [];
  readonly #create: () => T;
  /** What lies before it was taken out. */
  #first = 0;

  constructor(create: () => T) {
    this.#create = create;
  }

  get count(): number {
    return this.#items.length - this.#first;
  }

  /** The item at this place, from 0. */
  at(row: number): T {
    return this.#items[this.#first + row]!;
  }

  /** Adds an item at the end and returns it: the caller overwrites all of it, its number first. */
  append(): T {
    const item = this.#spare.pop() ?? this.#create();
    this.#items.push(item);
    return item;
  }

  /** Takes an item out; the later ones move up by one. */
  remove(item: T): void {
    const items = this.#items;
    const place = items[this.#first] === item ? this.#first : this.#placeFrom(item.number);
    if (place === items.length - 1) items.pop();
    else if (place === this.#first) this.#first++;
    else items.splice(place, 1);
    // The others are moved once they are the smaller half, and not whenever the oldest of thousands goes.
    if (2 * this.#first > items.length) {
      items.splice(0, this.#first);
      this.#first = 0;
    }
    this.#spare.push(item);
  }

  /** The item with this number; null when it is not listed. */
  find(number: number): T | null {
    const row = this.rowFrom(number);
    return row < this.count && this.at(row).number === number ? this.at(row) : null;
  }

  /** Where the first item of this number or a higher one stands; `count` when there is none. */
  rowFrom(number: number): number {
    return this.#placeFrom(number) - this.#first;
  }

  #placeFrom(number: number): number {
    let low = this.#first;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#items[middle]!.number < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
