/** Rows of numbers in one growing column: what a run appends to and takes from without leaving garbage behind. */
export class Records {
  /** Field f of row r is `data[at(r) + f]`. Replaced by a larger one when it is full: take it anew after each `append`. */
  data: Float64Array;
  count = 0;
  // Rows before this one were taken from the front.
  #start = 0;

  constructor(readonly width: number, rows: number) {
    this.data = new Float64Array(width * rows);
  }

  /** Where a row begins in `data`. */
  at(row: number): number {
    return (this.#start + row) * this.width;
  }

  get(row: number, field: number): number {
    return this.data[(this.#start + row) * this.width + field]!;
  }

  set(row: number, field: number, value: number): void {
    this.data[(this.#start + row) * this.width + field] = value;
  }

  /** Adds a row, whose fields are for the caller to write, all of them. Returns where it begins in `data`. */
  append(): number {
    const at = (this.#start + this.count) * this.width;
    this.count++;
    if (at < this.data.length) return at;
    this.#makeRoom();
    return (this.count - 1) * this.width;
  }

  /** Adds a row of NaN. Returns as `append`. */
  appendEmpty(): number {
    const at = this.append();
    const { data, width } = this;
    // Written out: for a short row this is several times faster than fill().
    for (let k = at; k < at + width; k++) data[k] = NaN;
    return at;
  }

  /** Takes a row out; the later ones move up by one. */
  remove(row: number): void {
    this.count--;
    if (row === 0) {
      this.#start = this.count === 0 ? 0 : this.#start + 1;
      return;
    }
    const at = this.at(row);
    this.data.copyWithin(at, at + this.width, this.at(this.count + 1));
  }

  /** The row whose first field is `number`, or -1; the first fields must rise from row to row. */
  find(number: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.get(middle, 0);
      if (found === number) return middle;
      if (found < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }

  #makeRoom(): void {
    const rows = this.data.subarray(this.#start * this.width);
    // Moving up is enough when half of the rows are gone.
    const target = this.#start >= this.count ? this.data : new Float64Array(this.data.length * 2);
    target.set(rows);
    this.data = target;
    this.#start = 0;
  }
}
