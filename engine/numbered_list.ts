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

  constructor(create: () => T) {
    this.#create = create;
  }

  get count(): number {
    return this.#items.length;
  }

  /** The item at this place, from 0. */
  at(row: number): T {
    return this.#items[row]!;
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
    const row = items[0] === item ? 0 : this.#search(item.number);
    if (row === items.length - 1) items.pop();
    else if (row === 0) items.shift();
    else items.splice(row, 1);
    this.#spare.push(item);
  }

  /** The item with this number; null when it is not listed. */
  find(number: number): T | null {
    const row = this.#search(number);
    return row < 0 ? null : this.#items[row]!;
  }

  #search(number: number): number {
    let low = 0;
    let high = this.#items.length - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#items[middle]!.number;
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
