import { ArrowWriter } from "../../workers/rows/arrow_writer.ts";
import type { Format } from "../../workers/rows/table_format.ts";
import type { TicksAnswer } from "../../routers/market_data/market_data.ts";
import { chooseFormat, type Pieces, sendPieces } from "../answers/send_pieces.ts";
import { choosePacking, matchesTag } from "../answers/negotiation.ts";
import { createPieceCache, type PieceCache } from "./piece_cache.ts";
import { type RowFormat, TickWriter } from "./tick_writer.ts";

// Large enough that passing a piece on costs little, small enough that memory stays flat.
const PIECE_BYTES = 262_144;
// A provider may revise a range, or a file be imported, so caches ask again after a minute.
const CACHE_CONTROL = "public, max-age=60";

// A year of 1m candles is 60 MiB of JSON, and takes longer to write than to send.
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
const processCache = createPieceCache(CACHE_BYTES_MAX);

const WRITERS: Record<Format, (answer: TicksAnswer, cache: PieceCache) => Pieces> = {
  json: writeJson,
  csv: writeCsv,
  arrow: writeArrow,
};

/**
 * Streams candles as a response.
 *
 * @param cache Keeps the text of stored chunks; by default one cache for the process.
 * @returns 304 where the client has the same answer already.
 */
export function encodeTicks(answer: TicksAnswer, request: Request, cache: PieceCache = processCache): Response {
  const format = chooseFormat(answer.format, request);
  const packing = choosePacking(request.headers.get("accept-encoding"));
  // Compressed bytes need a tag of their own.
  const tag = `"${answer.tag}-${format}${packing === null ? "" : `-${packing}`}"`;
  const headers = new Headers({ etag: tag, "cache-control": CACHE_CONTROL, vary: "accept, accept-encoding" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  return sendPieces(WRITERS[format](answer, cache), { format, request, headers, nextCursor: answer.nextCursor });
}

// The last row's comma is removed at the end.
const JSON_ROWS: RowFormat = {
  start: '{"timestamp":"',
  open: '","open":',
  high: ',"high":',
  low: ',"low":',
  close: ',"close":',
  volume: ',"volume":',
  end: "},",
};

async function* writeJson({ head, batches, nextCursor }: TicksAnswer, cache: PieceCache): Pieces {
  // One piece is held back, since the last one loses its comma.
  let pending = textBytes(`${JSON.stringify(head).slice(0, -1)},"ticks":[`);
  let hasRows = false;
  for await (const piece of writeRows("json", JSON_ROWS, batches, cache)) {
    yield pending;
    pending = piece;
    hasRows = true;
  }
  yield hasRows ? pending.subarray(0, -1) : pending;
  yield textBytes(nextCursor === undefined ? "]}" : `],"next_cursor":${JSON.stringify(nextCursor)}}`);
}

const CSV_ROWS: RowFormat = { start: "", open: ",", high: ",", low: ",", close: ",", volume: ",", end: "\n" };

async function* writeCsv({ batches }: TicksAnswer, cache: PieceCache): Pieces {
  yield textBytes("timestamp,open,high,low,close,volume\n");
  yield* writeRows("csv", CSV_ROWS, batches, cache);
}

/** Rows in pieces of a page each; the pieces of stored chunks are cached. */
async function* writeRows(
  name: Format,
  format: RowFormat,
  batches: TicksAnswer["batches"],
  cache: PieceCache,
): Pieces {
  const writer = new TickWriter(format, PIECE_BYTES);
  for await (const { key, work } of readAhead(name, batches, cache)) {
    if (!(work instanceof Promise)) {
      yield* work;
      continue;
    }
    const rows = await work;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    for (let from = 0; from < rows.time.length;) {
      from = writer.writeRows(rows, from);
      const piece = writer.take();
      pieces.push(piece);
      yield piece;
    }
    if (key !== null) cache.set(key, pieces);
  }
}

/** Yields each batch once the next one is being read, so that the database and the client do not wait for each other. */
async function* readAhead(name: Format, batches: TicksAnswer["batches"], cache: PieceCache) {
  let last;
  for await (const batch of batches) {
    const key = batch.sha256 === null ? null : `${name} ${batch.sha256}`;
    const work = (key === null ? undefined : cache.get(key)) ?? batch.read();
    // The error is thrown when the batch is awaited, if it ever is.
    if (work instanceof Promise) work.catch(() => {});
    if (last !== undefined) yield last;
    last = { key, work };
  }
  if (last !== undefined) yield last;
}

const VALUES = ["open", "high", "low", "close", "volume"] as const;

/** A record batch at a time; the schema's metadata is the head. */
async function* writeArrow({ head, batches }: TicksAnswer): Pieces {
  const values = VALUES.map((name) => ({ name, kind: "number" as const, isNullable: false }));
  const columns = [{ name: "timestamp", kind: "time" as const, isNullable: false }, ...values];
  const writer = new ArrowWriter(columns, { ...head });
  yield writer.start();
  for await (const batch of batches) {
    const rows = await batch.read();
    yield writer.batch(rows.time.length, [rows.time, ...VALUES.map((name) => rows[name])]);
  }
  yield writer.end();
}

function textBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}
