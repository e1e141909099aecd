const QUARTER_MS = 900_000;
const QUARTERS_KEPT_MAX = 16_384;

/** The offsets from UTC of a time of the clock, in milliseconds: one, both of an hour that comes twice, or none of an hour that is skipped. */
type Offsets = readonly number[];

/** Times of the clock of an IANA time zone as moments. Each quarter of an hour is looked up once, which costs some 50 microseconds. */
export class LocalClock {
  readonly #timezone: string;
  readonly #quarters = new Map<number, Offsets>();
  #lastQuarter = NaN;
  #lastOffsets: Offsets = [];

  constructor(timezone: string) {
    this.#timezone = timezone;
  }

  /**
   * The moments at which the clock shows a time, earliest first: none, one or two.
   *
   * @param localMs The time of the clock, as if it were UTC.
   */
  momentsOf(localMs: number): readonly number[] {
    const quarter = Math.floor(localMs / QUARTER_MS);
    if (quarter !== this.#lastQuarter) {
      this.#lastQuarter = quarter;
      this.#lastOffsets = this.#offsetsOf(quarter);
    }
    return this.#lastOffsets.map((offset) => localMs - offset);
  }

  #offsetsOf(quarter: number): Offsets {
    const known = this.#quarters.get(quarter);
    if (known !== undefined) return known;
    const wallMs = quarter * QUARTER_MS;
    const wall = Temporal.PlainDateTime.from(new Date(wallMs).toISOString().slice(0, -1));
    const moments = (["earlier", "later"] as const).map((disambiguation) =>
      wall.toZonedDateTime(this.#timezone, { disambiguation })
    );
    // For a time that the clock skips, both are times that it does show.
    const shown = moments.filter((moment) => moment.toPlainDateTime().equals(wall));
    const offsets = [...new Set(shown.map(({ epochMilliseconds }) => wallMs - epochMilliseconds))];
    if (this.#quarters.size >= QUARTERS_KEPT_MAX) this.#quarters.clear();
    this.#quarters.set(quarter, offsets);
    return offsets;
  }
}
