/** The rows in which a guest reads its trades and its fills. */
import type { FillRecord, TradeDetails } from "../../../engine/trade_watch.ts";
import { DETAIL, FILL, TAG_BYTES_MAX } from "../contracts/abi.ts";

/** The memory of a guest. */
export interface Views {
  readonly words: Int32Array;
  readonly doubles: Float64Array;
}

const UTF8 = new TextEncoder();

/** Writes what is known of an open trade. @param nameOf The guest's number of an order. */
export function writeDetails(
  { words, doubles }: Views,
  row: number,
  details: TradeDetails,
  nameOf: (order: number) => number,
): void {
  words[(row + DETAIL.order) >>> 2] = nameOf(details.order);
  words[(row + DETAIL.entryIndex) >>> 2] = details.entryIndex;
  doubles[(row + DETAIL.entryTime) >>> 3] = details.entryTime;
  for (const name of ["stopLoss", "takeProfit", "trailingStop", "bestPrice", "worstPrice", "profit"] as const) {
    doubles[(row + DETAIL[name]) >>> 3] = orZero(details[name]);
  }
  words[(row + DETAIL.tagBytes) >>> 2] = writeTag(words, row + DETAIL.tag, details.tag);
}

/** Writes a fill, and what it closed. @param nameOf As of `writeDetails`. */
export function writeFill(
  { words, doubles }: Views,
  row: number,
  fill: FillRecord,
  nameOf: (order: number) => number,
): void {
  const { closed } = fill;
  words[(row + FILL.order) >>> 2] = nameOf(fill.order);
  words[(row + FILL.trade) >>> 2] = fill.trade;
  words[(row + FILL.index) >>> 2] = fill.index;
  words[(row + FILL.side) >>> 2] = fill.side;
  words[(row + FILL.reason) >>> 2] = fill.reason;
  words[(row + FILL.entryOrder) >>> 2] = closed === null ? 0 : nameOf(closed.order);
  words[(row + FILL.entryIndex) >>> 2] = closed?.entryIndex ?? 0;
  for (const name of ["price", "quantity", "fee", "time"] as const) doubles[(row + FILL[name]) >>> 3] = fill[name];
  for (const name of ["entryPrice", "entryTime", "profit", "fees", "bestPrice", "worstPrice"] as const) {
    doubles[(row + FILL[name]) >>> 3] = closed === null ? 0 : orZero(closed[name]);
  }
  words[(row + FILL.tagBytes) >>> 2] = writeTag(words, row + FILL.tag, closed === null ? fill.tag : closed.tag);
}

function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

/** @returns Its bytes. */
function writeTag({ buffer }: Int32Array, at: number, tag: string | null): number {
  if (tag === null) return 0;
  const encoded = UTF8.encode(tag).subarray(0, TAG_BYTES_MAX);
  new Uint8Array(buffer, at, encoded.length).set(encoded);
  return encoded.length;
}
