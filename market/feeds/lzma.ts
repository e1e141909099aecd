/** Bytes that are not LZMA, or not all of it. */
export class LzmaError extends Error {
  override readonly name = "LzmaError";
}

const HEADER_BYTES = 13;
const PROBABILITY_HALF = 1024;
const STATES = 12;
const END_MARKER = 0xffff_ffff;

/**
 * Unpacks an LZMA file of the old kind (".lzma", "LZMA alone"): the inside of Dukascopy's .bi5 files.
 *
 * It ends on any input: damaged bytes throw, they do not loop.
 *
 * @param bytesMax The output may not be longer.
 * @throws {LzmaError}
 * @see Igor Pavlov, "LZMA specification (draft)", 2015.
 */
export function decompressLzma(packed: Uint8Array, bytesMax: number): Uint8Array {
  if (packed.length < HEADER_BYTES + 5) {
    throw new LzmaError(`Cannot unpack ${packed.length} bytes: no LZMA file is so short`);
  }
  const header = new DataView(packed.buffer, packed.byteOffset, HEADER_BYTES);
  const properties = header.getUint8(0);
  if (properties >= 9 * 5 * 5) throw new LzmaError("Cannot unpack what does not begin like LZMA");
  const size = header.getBigUint64(5, true);
  const isSizeKnown = size !== 0xffff_ffff_ffff_ffffn;
  if (isSizeKnown && size > bytesMax) {
    throw new LzmaError(`Cannot unpack ${size} bytes: at most ${bytesMax} are expected`);
  }
  const output = new Uint8Array(isSizeKnown ? Number(size) : bytesMax);
  const lc = properties % 9;
  const lp = Math.floor(properties / 9) % 5;
  const pb = Math.floor(properties / 45);
  const decoder = new Decoder(new RangeDecoder(packed, HEADER_BYTES), output, { lc, lp, pb });
  const length = decoder.run();
  if (isSizeKnown && length !== output.length) {
    throw new LzmaError(`Cannot unpack more than ${length} of ${size} bytes`);
  }
  return output.subarray(0, length);
}

function probabilities(count: number): Uint16Array {
  return new Uint16Array(count).fill(PROBABILITY_HALF);
}

class RangeDecoder {
  readonly #bytes: Uint8Array;
  #at: number;
  #range = 0xffff_ffff;
  #code = 0;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
    if (this.#next() !== 0) throw new LzmaError("Cannot unpack: the first coded byte is not 0");
    for (let i = 0; i < 4; i++) this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  #next(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw new LzmaError("Cannot unpack: the file is cut off");
    return byte;
  }

  #normalize(): void {
    if (this.#range >= 0x0100_0000) return;
    this.#range = (this.#range << 8) >>> 0;
    this.#code = ((this.#code << 8) | this.#next()) >>> 0;
  }

  bit(models: Uint16Array, index: number): number {
    const model = models[index]!;
    const bound = (this.#range >>> 11) * model;
    let bit = 0;
    if (this.#code < bound) {
      this.#range = bound;
      models[index] = model + ((2048 - model) >> 5);
    } else {
      this.#range -= bound;
      this.#code -= bound;
      models[index] = model - (model >> 5);
      bit = 1;
    }
    this.#normalize();
    return bit;
  }

  /** Bits that are as likely 0 as 1. */
  directBits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      this.#range >>>= 1;
      const bit = this.#code >= this.#range ? 1 : 0;
      if (bit === 1) this.#code -= this.#range;
      value = ((value << 1) | bit) >>> 0;
      this.#normalize();
    }
    return value;
  }

  /** A number of `count` bits, the highest first. */
  tree(models: Uint16Array, base: number, count: number): number {
    let index = 1;
    for (let i = 0; i < count; i++) index = (index << 1) | this.bit(models, base + index);
    return index - (1 << count);
  }

  /** A number of `count` bits, the lowest first. */
  reverseTree(models: Uint16Array, base: number, count: number): number {
    let index = 1;
    let value = 0;
    for (let i = 0; i < count; i++) {
      const bit = this.bit(models, base + index);
      index = (index << 1) | bit;
      value |= bit << i;
    }
    return value;
  }
}

/** Lengths of matches, less 2. */
class LengthDecoder {
  readonly #choices = probabilities(2);
  readonly #low = probabilities(16 << 3);
  readonly #middle = probabilities(16 << 3);
  readonly #high = probabilities(256);

  read(range: RangeDecoder, positionState: number): number {
    if (range.bit(this.#choices, 0) === 0) return range.tree(this.#low, positionState << 3, 3);
    if (range.bit(this.#choices, 1) === 0) return 8 + range.tree(this.#middle, positionState << 3, 3);
    return 16 + range.tree(this.#high, 0, 8);
  }
}

class Decoder {
  readonly #range: RangeDecoder;
  readonly #output: Uint8Array;
  readonly #properties: { lc: number; lp: number; pb: number };
  readonly #literals: Uint16Array;
  readonly #isMatch = probabilities(STATES << 4);
  readonly #isRepeat = probabilities(STATES);
  readonly #isRepeat0Long = probabilities(STATES << 4);
  /** Which of the last four distances: three decisions, each by state. */
  readonly #repeats = [probabilities(STATES), probabilities(STATES), probabilities(STATES)] as const;
  readonly #slots = probabilities(4 << 6);
  readonly #distances = probabilities(115);
  readonly #align = probabilities(16);
  readonly #matchLength = new LengthDecoder();
  readonly #repeatLength = new LengthDecoder();
  readonly #last = [0, 0, 0, 0];
  #state = 0;
  #at = 0;

  constructor(range: RangeDecoder, output: Uint8Array, properties: { lc: number; lp: number; pb: number }) {
    this.#range = range;
    this.#output = output;
    this.#properties = properties;
    this.#literals = probabilities(0x300 << (properties.lc + properties.lp));
  }

  /** Fills the output; returns how many bytes there were. */
  run(): number {
    const positionMask = (1 << this.#properties.pb) - 1;
    while (this.#at < this.#output.length) {
      const positionState = this.#at & positionMask;
      if (this.#range.bit(this.#isMatch, (this.#state << 4) + positionState) === 0) {
        this.#readLiteral();
        continue;
      }
      const length = this.#range.bit(this.#isRepeat, this.#state) === 0
        ? this.#readMatch(positionState)
        : this.#readRepeat(positionState);
      if (this.#last[0] === END_MARKER) return this.#at;
      this.#copy(length);
    }
    return this.#at;
  }

  #readLiteral(): void {
    const { lc, lp } = this.#properties;
    const previous = this.#at === 0 ? 0 : this.#output[this.#at - 1]!;
    const base = 0x300 * (((this.#at & ((1 << lp) - 1)) << lc) + (previous >> (8 - lc)));
    let symbol = 1;
    if (this.#state >= 7) {
      let expected = this.#output[this.#at - this.#last[0]! - 1] ?? 0;
      while (symbol < 0x100) {
        const hint = (expected >> 7) & 1;
        expected <<= 1;
        const bit = this.#range.bit(this.#literals, base + ((1 + hint) << 8) + symbol);
        symbol = (symbol << 1) | bit;
        if (bit !== hint) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | this.#range.bit(this.#literals, base + symbol);
    this.#output[this.#at++] = symbol;
    this.#state = this.#state < 4 ? 0 : this.#state < 10 ? this.#state - 3 : this.#state - 6;
  }

  #readMatch(positionState: number): number {
    const length = this.#matchLength.read(this.#range, positionState);
    this.#state = this.#state < 7 ? 7 : 10;
    this.#last.pop();
    this.#last.unshift(this.#readDistance(length));
    return length + 2;
  }

  #readRepeat(positionState: number): number {
    const [first, second, third] = this.#repeats;
    const state = this.#state;
    if (this.#range.bit(first, state) === 0) {
      if (this.#range.bit(this.#isRepeat0Long, (state << 4) + positionState) === 0) {
        this.#state = state < 7 ? 9 : 11;
        return 1;
      }
    } else {
      const which = this.#range.bit(second, state) === 0 ? 1 : this.#range.bit(third, state) === 0 ? 2 : 3;
      this.#last.unshift(...this.#last.splice(which, 1));
    }
    const length = this.#repeatLength.read(this.#range, positionState);
    this.#state = state < 7 ? 8 : 11;
    return length + 2;
  }

  #readDistance(length: number): number {
    const range = this.#range;
    const slot = range.tree(this.#slots, Math.min(length, 3) << 6, 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = ((2 | (slot & 1)) << bits) >>> 0;
    if (slot < 14) return base + range.reverseTree(this.#distances, base - slot, bits);
    return (base + range.directBits(bits - 4) * 16 + range.reverseTree(this.#align, 0, 4)) >>> 0;
  }

  #copy(length: number): void {
    const distance = this.#last[0]! + 1;
    if (distance > this.#at) throw new LzmaError("Cannot unpack: a match begins before the file");
    const end = this.#at + length;
    if (end > this.#output.length) throw new LzmaError("Cannot unpack: there is more than was announced");
    for (; this.#at < end; this.#at++) this.#output[this.#at] = this.#output[this.#at - distance]!;
  }
}
