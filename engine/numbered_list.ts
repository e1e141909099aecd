/** An item of a list. Its number is larger than that of the item before it and does not change while it is listed. */
interface Numbered {
  readonly number: number;
}

/** Items in order of their numbers. Removed items are reused: a run with a million orders leaves no garbage. */
export class NumberedList<T extends Numbered> {
  readonly #items: T[];
  readonly #spare: T[];
  readonly #create: () => T;
  /** The place of the first item: those before it were removed. */
  #first = 0;

  constructor(create: () => T) {
    this.#create = create;
    // V8 compiles `push` in place only for lists that have always held objects: an empty literal begins as one of integers.
    this.#items = [create()];
    this.#spare = this.#items.splice(0);
  }

  get count(): number {
    return this.#items.length - this.#first;
  }

  /** The item in this row, from 0. */
  at(row: number): T {
    return this.#items[this.#first + row]!;
  }

  /** Adds an item at the end and returns it. The caller overwrites all of its fields. */
  append(): T {
    const item = this.#spare.pop() ?? this.#create();
    this.#items.push(item);
    return item;
  }

  /** Removes an item; the later ones move up by one. */
  remove(item: T): void {
    const items = this.#items;
    const place = items[this.#first] === item ? this.#first : this.#placeFrom(item.number);
    if (place === items.length - 1) items.pop();
    else if (place === this.#first) this.#first++;
    else items.splice(place, 1);
    // The rest moves when it is the smaller half, and not each time that the oldest of thousands goes.
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

  /** The row of the first item with this number or a higher one; `count` when there is none. */
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
