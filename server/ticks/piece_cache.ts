type Pieces = readonly Uint8Array<ArrayBuffer>[];

/** Remembers pieces of answers by key, up to so many bytes; those that nobody asked for longest are forgotten first. */
export class PieceCache {
  readonly #bytesMax: number;
  // In order of use, the latest last.
  readonly #held = new Map<string, Pieces>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get(key: string): Pieces | undefined {
    const pieces = this.#held.get(key);
    if (pieces === undefined) return undefined;
    this.#held.delete(key);
    this.#held.set(key, pieces);
    return pieces;
  }

  put(key: string, pieces: Pieces): void {
    const bytes = sizeOf(pieces);
    if (bytes > this.#bytesMax || this.#held.has(key)) return;
    this.#held.set(key, pieces);
    this.#bytes += bytes;
    for (const [oldest, old] of this.#held) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#held.delete(oldest);
      this.#bytes -= sizeOf(old);
    }
  }
}

function sizeOf(pieces: Pieces): number {
  return pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
}
