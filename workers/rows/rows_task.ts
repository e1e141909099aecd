import { curveOf } from "../../db/codec/curve_rows.ts";
import type { EquityColumns } from "../../db/codec/result_parts.ts";
import { decodeTrials, type StoredTrials, type TrialRows } from "../../db/codec/trial_rows.ts";
import {
  cutRows,
  decodeRows,
  pickRows,
  type ResultRows,
  type RowPlaces,
  type RowRange,
  type StoredRows,
} from "../../db/codec/result_rows.ts";
import { countIndependent } from "../../research/independent_trials.ts";
import type { Space } from "../../research/space.ts";
import { drawCurves } from "./draw_curves.ts";
import { type OrderedRows, orderRows, type RowKeys, type RowOrder, takeRows, type WantedRows } from "./row_order.ts";
import type { Format } from "./table_format.ts";
import { type ClosedTrades, spreadTrades, type TradeSpread } from "./trade_spread.ts";
import { type RowsForm, writeResultRows } from "./write_result_rows.ts";
import { writeTrials } from "./write_trials.ts";

/** Most bytes of decoded trials that the thread keeps; a chunk of 10,000 has 5 MB. */
export const TRIAL_BYTES_MAX = 96 * 1024 * 1024;
/** The same of trades, orders and curves; a chunk of 10,000 trades has 2 MB, one of 40,000 candles up to 1 MB. */
export const RESULT_BYTES_MAX = 32 * 1024 * 1024;
/** The same of orders of rows; one of 250,000 trades has 3 MB. */
const ORDER_BYTES_MAX = 32 * 1024 * 1024;
// A tag with its place in a list, at most.
const TAG_BYTES = 128;

/** Work on a chunk of trials. A chunk that was decoded for an earlier task need not be sent again. */
interface TrialsTask {
  /** The same for no other chunk. */
  readonly key: string;
  readonly chunk: StoredTrials | null;
}

/** Writes trials from a place on, in a format, as many as `rowsMax`. */
export interface WriteTask extends TrialsTask {
  readonly kind: "write";
  readonly format: Format;
  readonly space: Space;
  readonly fromPlace: number;
  readonly rowsMax: number;
}

/** Trials of a chunk: those at some places, or those from a place on. */
export type Wanted = { readonly places: readonly number[] } | { readonly fromPlace: number; readonly rowsMax: number };

/** Takes trials out of their chunk. */
export interface PickTask extends TrialsTask {
  readonly kind: "pick";
  readonly wanted: Wanted;
}

/** Takes rows out of a chunk of trades or orders. */
export interface CutTask {
  readonly kind: "cut";
  /** The same for no other chunk. */
  readonly key: string;
  readonly chunk: StoredRows | null;
  readonly range: RowRange | RowPlaces;
}

/** Writes rows of a chunk of trades or orders. */
export interface WriteRowsTask {
  readonly kind: "write-rows";
  /** The same for no other chunk. */
  readonly key: string;
  readonly chunk: StoredRows | null;
  readonly range: RowRange;
  readonly form: RowsForm;
}

/** Takes a chunk of a curve. */
interface CurveTask {
  readonly kind: "curve";
  /** The same for no other chunk. */
  readonly key: string;
  readonly chunk: StoredRows | null;
}

/** Takes rows out of an order of them. */
export interface OrderTask {
  readonly kind: "order";
  /** The same for no other order. */
  readonly key: string;
  /** The keys of its rows; null where it may be known already. */
  readonly chunk: RowKeys | null;
  readonly wanted: WantedRows;
}

/** Measures how trades are spread. */
interface SpreadTask {
  readonly kind: "spread";
  readonly trades: ClosedTrades;
}

/** Compares the daily returns of some runs. */
interface CompareTask {
  readonly kind: "compare";
  /** One run after the other, each of the same length. */
  readonly returns: Float64Array<ArrayBuffer>;
  readonly runs: number;
}

/** Draws curves as a picture. */
interface DrawTask {
  readonly kind: "draw";
  readonly curves: readonly (readonly number[])[];
}

export type RowsTask =
  | WriteTask
  | PickTask
  | CutTask
  | WriteRowsTask
  | CurveTask
  | OrderTask
  | SpreadTask
  | CompareTask
  | DrawTask;

/** Rows of a list, written. */
export interface WrittenRows {
  readonly type: "written";
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly rows: number;
  /** The next trial, or row, of the chunk; null where it has none. */
  readonly nextPlace: number | null;
}

export type RowsAnswer =
  | WrittenRows
  | { readonly type: "picked"; readonly rows: TrialRows }
  | { readonly type: "cut"; readonly rows: ResultRows }
  | { readonly type: "curve"; readonly curve: EquityColumns }
  | { readonly type: "ordered"; readonly ordered: OrderedRows }
  | { readonly type: "spread"; readonly spread: TradeSpread }
  | { readonly type: "compared"; readonly independent: number }
  | { readonly type: "drawn"; readonly png: Uint8Array<ArrayBuffer> }
  /** The chunk is not decoded, or not any more: send it. */
  | { readonly type: "missing" }
  /** The chunk is damaged, or of a newer build. */
  | { readonly type: "unreadable"; readonly message: string }
  | { readonly type: "failed"; readonly message: string };

/** Does tasks, and keeps the chunks that it has decoded, up to a number of bytes. */
export class RowsWork {
  readonly #trials: DecodedChunks<StoredTrials, TrialRows>;
  readonly #results = new DecodedChunks<StoredRows, ResultRows>(decodeRows, RESULT_BYTES_MAX);
  readonly #orders = new DecodedChunks<RowKeys, RowOrder>(orderRows, ORDER_BYTES_MAX);

  constructor(trialBytesMax: number = TRIAL_BYTES_MAX) {
    this.#trials = new DecodedChunks(decodeTrials, trialBytesMax);
  }

  /** Never throws: a failure is an answer. It has nothing but the chunk, so that is what any failure is due to. */
  do(task: RowsTask): RowsAnswer {
    try {
      if (task.kind === "draw") return { type: "drawn", png: drawCurves(task.curves) };
      if (task.kind === "compare") return { type: "compared", independent: compare(task) };
      if (task.kind === "spread") return { type: "spread", spread: spreadTrades(task.trades) };
      if (task.kind === "order") {
        const order = this.#orders.find(task);
        return order === null ? { type: "missing" } : { type: "ordered", ordered: takeRows(order, task.wanted) };
      }
      if (task.kind === "cut" || task.kind === "write-rows" || task.kind === "curve") return this.#doWithResult(task);
      const rows = this.#trials.find(task);
      if (rows === null) return { type: "missing" };
      return task.kind === "write" ? write(rows, task) : { type: "picked", rows: pick(rows, task.wanted) };
    } catch (error) {
      return { type: "unreadable", message: error instanceof Error ? error.message : String(error) };
    }
  }

  #doWithResult(task: CutTask | WriteRowsTask | CurveTask): RowsAnswer {
    const all = this.#results.find(task);
    if (all === null) return { type: "missing" };
    if (task.kind === "curve") return { type: "curve", curve: copyCurve(curveOf(all)) };
    if (task.kind === "cut") {
      return { type: "cut", rows: "places" in task.range ? pickRows(all, task.range) : cutRows(all, task.range) };
    }
    const rows = cutRows(all, task.range);
    const end = task.range.from + rows.count;
    const bytes = writeResultRows(rows, task.form);
    return { type: "written", bytes, rows: rows.count, nextPlace: end < all.count ? end : null };
  }
}

/** Decoded chunks by their keys; the one that was not used for longest makes way. */
class DecodedChunks<Stored, Rows extends TrialRows | ResultRows | RowOrder> {
  readonly #decode: (chunk: Stored) => Rows;
  readonly #chunks = new Map<string, Rows>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(decode: (chunk: Stored) => Rows, bytesMax: number) {
    this.#decode = decode;
    this.#bytesMax = bytesMax;
  }

  /** The rows of a chunk; null where it is not known and was not sent. */
  find({ key, chunk }: { readonly key: string; readonly chunk: Stored | null }): Rows | null {
    const known = this.#chunks.get(key);
    if (known !== undefined) {
      // The one that was not used for longest is the first of the map.
      this.#chunks.delete(key);
      this.#chunks.set(key, known);
      return known;
    }
    if (chunk === null) return null;
    const rows = this.#decode(chunk);
    this.#chunks.set(key, rows);
    this.#bytes += bytesOf(rows);
    for (const [oldest, old] of this.#chunks) {
      if (this.#bytes <= this.#bytesMax || oldest === key) break;
      this.#chunks.delete(oldest);
      this.#bytes -= bytesOf(old);
    }
    return rows;
  }
}

function compare({ returns, runs }: CompareTask): number {
  const days = returns.length / runs;
  return countIndependent(Array.from({ length: runs }, (_, i) => returns.subarray(i * days, (i + 1) * days)));
}

function bytesOf(rows: TrialRows | ResultRows | RowOrder): number {
  if ("keys" in rows) return rows.rows.byteLength + rows.keys.byteLength;
  const tags = "tags" in rows ? TAG_BYTES * (rows.tags?.length ?? 0) : 0;
  return Object.values(rows.columns).reduce((sum, { byteLength }) => sum + byteLength, tags);
}

/** Answers are given away, and what was decoded stays. */
function copyCurve({ time, equity, position }: EquityColumns): EquityColumns {
  return { time: time.slice(), equity: equity.slice(), position: position.slice() };
}

function write(rows: TrialRows, { format, space, fromPlace, rowsMax }: WriteTask): WrittenRows {
  const { from, until } = rangeFrom(rows, fromPlace, rowsMax);
  const bytes = from === until ? new Uint8Array() : writeTrials(format, space, rows, { from, until });
  const nextPlace = until < rows.count ? rows.columns.place![until]! : null;
  return { type: "written", bytes, rows: until - from, nextPlace };
}

function rangeFrom({ columns: { place }, count }: TrialRows, fromPlace: number, rowsMax: number): RowRange {
  const found = place!.findIndex((each) => each >= fromPlace);
  const from = found < 0 ? count : found;
  return { from, until: Math.min(count, from + rowsMax) };
}

function pick(rows: TrialRows, wanted: Wanted): TrialRows {
  const indices = "places" in wanted
    ? indicesOf(rows, new Set(wanted.places))
    : indicesBetween(rangeFrom(rows, wanted.fromPlace, wanted.rowsMax));
  const cut = Object.entries(rows.columns).map(([name, values]) =>
    [name, Float64Array.from(indices, (row) => values[row]!)] as const
  );
  return { ...rows, count: indices.length, columns: Object.fromEntries(cut) };
}

function indicesOf({ columns }: TrialRows, places: ReadonlySet<number>): number[] {
  const indices: number[] = [];
  columns.place!.forEach((place, row) => places.has(place) && indices.push(row));
  return indices;
}

function indicesBetween({ from, until }: RowRange): number[] {
  return Array.from({ length: until - from }, (_, i) => from + i);
}
