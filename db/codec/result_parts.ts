/**
 * A run's trades, orders and equity as they are stored: columns, cut into chunks of equal length, each of them compressed. The thread that
 * ran a built-in strategy makes them, so that the thread of HTTP does not.
 */
import { createHash } from "node:crypto";
import { constants, zstdCompressSync } from "node:zlib";
import type { Balances } from "../../engine/balance_log.ts";
import type { OrderColumns } from "../../engine/order_columns.ts";
import type { RunResult } from "../../engine/run.ts";
import type { TradeColumns } from "../../engine/trade_columns.ts";
import { packEquity } from "./marked_equity.ts";
import { type Columns, packColumns } from "./packed_columns.ts";
import { packTrades } from "./packed_trades.ts";
import { storableText } from "./storable.ts";

/** Rows of a chunk. A page is cut from one or two chunks, however many there are. */
export const CHUNK_ROWS = 10_000;
/** Rows of a chunk of equity, which has no pages: with 10,000, a curve would take twice as long to encode. */
export const EQUITY_CHUNK_ROWS = 40_000;

/** Columns of candles that results share, packed. */
export interface SharedCandles {
  /** Of `data`, hexadecimal. */
  readonly sha256: string;
  readonly data: Uint8Array;
  /** The object that has the bytes, where a store keeps them. */
  readonly object?: string | null;
}

/** The columns that a run leaves behind. */
export const RESULT_PARTS = ["trades", "orders", "equity", "plots"] as const;

/** A chunk without its place in the database; `resultChunks` has the words for its columns. */
export interface ResultChunk {
  readonly part: (typeof RESULT_PARTS)[number];
  readonly chunk: number;
  readonly rows: number;
  readonly firstTime: Date;
  readonly lastTime: Date;
  readonly data: Uint8Array;
  readonly tags?: Uint8Array | null;
  readonly candles?: SharedCandles | null;
  /** Where the data and then the tags are, if a store keeps them: from 1. */
  readonly place?: { readonly object: string; readonly at: number };
}

/** Columns of equal length, to be stored as one part of a result. */
export interface PartColumns {
  readonly part: ResultChunk["part"];
  readonly count: number;
  readonly columns: Readonly<Record<string, Float64Array | Int32Array | Int8Array | Uint8Array>>;
  /** Name of the column of times, milliseconds since 1970. */
  readonly time: string;
  readonly tags?: readonly (string | null)[];
  /** A second tag for each row. */
  readonly exitTags?: readonly (string | null)[];
  /** Turns a chunk's columns, which begin at a row of the part, into those to be stored. */
  readonly pack?: (columns: Columns, begin: number) => Columns;
  /** Names the columns that the chunk shares with other results, if the packed columns have all of them. */
  readonly shared?: readonly string[];
  /** Equal keys, equal shared columns: those of earlier results are not packed again. */
  readonly sharedKey?: string | undefined;
}

/** The names of the stored columns of trades. */
export const TRADE_COLUMNS = [
  "side",
  "quantity",
  "entryTime",
  "entryPrice",
  "exitTime",
  "exitPrice",
  "fees",
  "pnl",
  "return",
  "candles",
  "mae",
  "mfe",
  "exitReason",
  "ambiguous",
  "entryOrder",
  "exitOrder",
] as const;

/** The names of the stored columns of orders. */
export const ORDER_COLUMNS = [
  "time",
  "side",
  "type",
  "quantity",
  "limitPrice",
  "stopPrice",
  "status",
  "reason",
  "filledQuantity",
  "price",
  "fillTime",
] as const;

/**
 * A run's curve, a value per candle: `time` (milliseconds since 1970, the candle's open), `equity` (money, at its close)
 * and `position` (units held at its close, negative when short).
 */
export interface EquityColumns {
  readonly time: Float64Array;
  readonly equity: Float64Array;
  readonly position: Float64Array;
}

// About 80 kB each at most; a year of minutes has 14.
const PACKED_CANDLES_MAX = 100;

/** A run's trades, to be numbered from 1 in the order of the columns. */
export function tradesPart(trades: TradeColumns): PartColumns {
  const columns = Object.fromEntries(TRADE_COLUMNS.map((name) => [name, trades[name]]));
  const { count, tag: tags, exitTag: exitTags } = trades;
  return { part: "trades", count, columns, time: "entryTime", tags, exitTags, pack: packTrades };
}

/** A run's orders, to be numbered from 1 in the order of the columns. */
export function ordersPart(orders: OrderColumns): PartColumns {
  const columns = Object.fromEntries(ORDER_COLUMNS.map((name) => [name, orders[name]]));
  return { part: "orders", count: orders.count, columns, time: "time", tags: orders.tag };
}

/**
 * A run's curve, to be stored.
 *
 * @param marks The candles' closes and the balances that were marked at them, which let most curves be stored in a third of the bytes. They
 *   do not change what is read back.
 */
export function equityPart(
  { time, equity, position }: EquityColumns,
  marks?: { readonly close: Float64Array; readonly balances: Balances },
): PartColumns {
  const columns = { time, equity, position, ...(marks === undefined ? {} : { close: marks.close }) };
  const pack = (cut: Columns, begin: number) => packEquity(cut, begin, marks?.balances);
  return { part: "equity", count: time.length, columns, time: "time", pack, shared: ["time", "close"] };
}

/** All parts of a result. @param candles The run's; those before `firstIndex` are lookback. `sha256` names them. */
export function resultParts(
  { trades, orders, equity, position, balances }: Pick<
    RunResult,
    "trades" | "orders" | "equity" | "position" | "balances"
  >,
  candles: { readonly time: Float64Array; readonly close: Float64Array; readonly sha256?: string | undefined },
  firstIndex: number,
): PartColumns[] {
  const curve = { time: candles.time.subarray(firstIndex), equity, position };
  const sharedKey = candles.sha256 === undefined ? undefined : `${candles.sha256} ${firstIndex}`;
  const marks = { close: candles.close.subarray(firstIndex), balances };
  const equityOfRun = { ...equityPart(curve, marks), sharedKey };
  return [tradesPart(trades), ordersPart(orders), equityOfRun];
}

/** Encodes the parts of a result, a chunk at a time. */
export function* encodeChunks(parts: readonly PartColumns[]): Generator<ResultChunk> {
  for (const part of parts) {
    const rows = part.part === "equity" ? EQUITY_CHUNK_ROWS : CHUNK_ROWS;
    for (let chunk = 0; chunk * rows < part.count; chunk++) {
      yield encodeChunk(part, chunk, { begin: chunk * rows, end: Math.min(part.count, (chunk + 1) * rows) });
    }
  }
}

function encodeChunk(
  { part, columns, time, tags, exitTags, pack, shared = [], sharedKey }: PartColumns,
  chunk: number,
  { begin, end }: { readonly begin: number; readonly end: number },
): ResultChunk {
  const cut = Object.fromEntries(
    Object.entries(columns).map(([name, values]) => [name, cutDoubles(values, begin, end)] as const),
  );
  const packed = Object.entries(pack === undefined ? cut : pack(cut, begin));
  const apart = packed.filter(([name]) => shared.includes(name));
  const hasCandles = shared.length > 0 && apart.length === shared.length;
  const own = hasCandles ? packed.filter(([name]) => !shared.includes(name)) : packed;
  const times = cut[time] ?? new Float64Array(0);
  // Trades that are still open come last; everything else is in order of time.
  const [first, last] = part === "trades" ? boundsOf(times) : [times[0]!, times.at(-1)!];
  return {
    part,
    chunk,
    rows: end - begin,
    firstTime: new Date(first),
    lastTime: new Date(last),
    data: packColumns(Object.fromEntries(own)),
    tags: encodeTags(tags?.slice(begin, end) ?? [], exitTags?.slice(begin, end) ?? []),
    candles: hasCandles ? packCandles(Object.fromEntries(apart), sharedKey && `${sharedKey} ${begin} ${end}`) : null,
  };
}

/** Packed candles of this thread's last results, the oldest first. */
const packedCandles = new Map<string, SharedCandles>();

function packCandles(columns: Columns, key: string | undefined): SharedCandles {
  const known = key === undefined ? undefined : packedCandles.get(key);
  if (known !== undefined) return known;
  const data = packColumns(columns);
  const packed = { sha256: createHash("sha256").update(data).digest("hex"), data };
  if (key === undefined) return packed;
  packedCandles.set(key, packed);
  for (const oldest of packedCandles.keys()) {
    if (packedCandles.size <= PACKED_CANDLES_MAX) break;
    packedCandles.delete(oldest);
  }
  return packed;
}

function boundsOf(values: Float64Array): [least: number, most: number] {
  let [least, most] = [Infinity, -Infinity];
  for (let i = 0; i < values.length; i++) {
    if (values[i]! < least) least = values[i]!;
    if (values[i]! > most) most = values[i]!;
  }
  return [least, most];
}

function cutDoubles(values: PartColumns["columns"][string], begin: number, end: number): Float64Array {
  const cut = values.subarray(begin, end);
  return cut instanceof Float64Array ? cut : new Float64Array(cut);
}

/** A list of the rows' tags, and then of their second tags if there is any. */
function encodeTags(tags: readonly (string | null)[], exitTags: readonly (string | null)[]): Uint8Array | null {
  const all = exitTags.every((tag) => tag === null) ? tags : [...tags, ...exitTags];
  if (all.every((tag) => tag === null)) return null;
  const json = JSON.stringify(all.map((tag) => tag === null ? null : storableText(tag)));
  return new Uint8Array(zstdCompressSync(json, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }));
}

/** Bytes that chunks occupy, with those that they may share. */
export function measureChunks(chunks: readonly Pick<ResultChunk, "data" | "tags" | "candles">[]): number {
  return chunks.reduce((bytes, { data, tags, candles }) => {
    return bytes + data.byteLength + (tags?.byteLength ?? 0) + (candles?.data.byteLength ?? 0);
  }, 0);
}
