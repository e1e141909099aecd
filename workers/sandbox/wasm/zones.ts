import { ZONES_MAX } from "../contracts/abi.ts";
import { makeOffsets } from "../contracts/local_time.ts";

/** The time zones that an instance has asked for. Messages of errors are ends of sentences. */
export class Zones {
  readonly #names: string[] = [];
  readonly #offsets: ((time: number) => number)[] = [];

  /** The number of a zone. @throws {RangeError} When there is none of that name, or one too many. */
  open(name: string): number {
    const known = this.#names.indexOf(name);
    if (known >= 0) return known;
    if (this.#names.length === ZONES_MAX) {
      throw new RangeError(`zone: it asks for ${name}, and has ${ZONES_MAX} time zones already`);
    }
    this.#offsets.push(makeOffsets("zone", name));
    return this.#names.push(name) - 1;
  }

  /** Milliseconds that the clocks of a zone are ahead of UTC. @throws {RangeError} When there is no such zone or time. */
  offsetAt(zone: number, time: number): number {
    const offsets = this.#offsets[zone];
    if (offsets === undefined) {
      throw new RangeError(`zone_offset: there is no zone ${zone}: it has asked for ${this.#names.length}`);
    }
    const offset = offsets(time);
    if (Number.isNaN(offset)) throw new RangeError(`zone_offset: ${time} is no time of the years 1 to 9999`);
    return offset;
  }
}
