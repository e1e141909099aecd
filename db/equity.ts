import type { Db } from "./client.ts";
import { curveOf } from "./codec/curve_rows.ts";
import type { EquityColumns } from "./codec/result_parts.ts";
import { decodeRows } from "./codec/result_rows.ts";
import { readRecord } from "./codec/unreadable.ts";
import { findChunk } from "./result_chunks.ts";
import { readStoredRows, type RowsSource } from "./row_pages.ts";

/** Decodes a stored chunk of a curve; undefined where there is no such chunk. @throws {UnreadableRecord} */
export type ReadCurve = (source: RowsSource) => Promise<EquityColumns | undefined>;

/** Decodes on this thread: long curves that requests read are decoded by another one. */
const readHere: ReadCurve = async ({ record, read }) => {
  const stored = await read();
  return stored && readRecord(record, () => curveOf(decodeRows(stored)));
};

/**
 * The curve of one user's backtest, or null where this user has no completed one of that id.
 *
 * @param options `candles`: the length of the curve, where it is known: each piece then goes to its place at once. `decode`: decodes the
 * chunks; by default this thread does.
 * @throws {Error} As readEquityPieces().
 */
export async function readEquity(
  db: Db,
  key: { readonly backtestId: string; readonly ownerId: string },
  { candles = 0, decode }: { readonly candles?: number | undefined; readonly decode?: ReadCurve | undefined } = {},
): Promise<EquityColumns | null> {
  const column = () => new GrowingColumn(candles);
  const [time, equity, position] = [column(), column(), column()];
  for await (const piece of readEquityPieces(db, key, { decode })) {
    time.add(piece.time);
    equity.add(piece.equity);
    position.add(piece.position);
  }
  if (time.isEmpty) return null;
  return { time: time.take(), equity: equity.take(), position: position.take() };
}

/** A column that is put together from its pieces. */
class GrowingColumn {
  #values: Float64Array;
  #length = 0;

  /** @param expected Its length, about. */
  constructor(expected: number) {
    this.#values = new Float64Array(expected);
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(piece: Float64Array): void {
    const length = this.#length + piece.length;
    if (length > this.#values.length) {
      const larger = new Float64Array(Math.max(length, 2 * this.#values.length));
      larger.set(this.take());
      this.#values = larger;
    }
    this.#values.set(piece, this.#length);
    this.#length = length;
  }

  take(): Float64Array {
    return this.#values.subarray(0, this.#length);
  }
}

/**
 * The same curve in pieces, oldest first, of which one is in memory at a time; none where this user has no completed one of that id.
 *
 * @param options `sinceMs`: the first piece is the one with the first candle at this time or later; `decode`: default: this thread does.
 * @throws {Error} When the stored bytes are damaged, or the backtest is deleted meanwhile.
 */
export async function* readEquityPieces(
  db: Db,
  key: { readonly backtestId: string; readonly ownerId: string },
  { sinceMs, decode = readHere }: {
    readonly sinceMs?: number | undefined;
    readonly decode?: ReadCurve | undefined;
  } = {},
): AsyncGenerator<EquityColumns> {
  const first = sinceMs === undefined ? 0 : await findChunk(db, { ...key, part: "equity" }, new Date(sinceMs));
  if (first === null) return;
  const { backtestId } = key;
  const read = (number: number) => readStoredRows(db, { ...key, part: "equity" }, number);
  for (let number = first;; number++) {
    const curve = await decode({
      key: `${backtestId} equity ${number}`,
      record: `equity of the backtest ${backtestId}`,
      read: () => read(number),
    });
    if (curve === undefined) {
      if (number === 0 || await read(0) !== undefined) return;
      throw new Error(`Cannot read on: the backtest ${backtestId} was deleted`);
    }
    yield curve;
  }
}
