import { LRUCache } from "lru-cache";

type Pieces = readonly Uint8Array<ArrayBuffer>[];

/** Pieces of answers by key, up to a total size; the least recently used are dropped first. */
export type PieceCache = LRUCache<string, Pieces>;

/** @param bytesMax The size of all pieces together. An answer that is larger by itself is not kept. */
export function createPieceCache(bytesMax: number): PieceCache {
  return new LRUCache({
    maxSize: bytesMax,
    // The library accepts no size of 0.
    sizeCalculation: (pieces) => Math.max(1, pieces.reduce((sum, piece) => sum + piece.byteLength, 0)),
  });
}
