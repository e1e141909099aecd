import { parseAccept } from "hono/utils/accept";
import type { TicksAnswer, TicksFormat } from "../../routers/market_data.ts";
import { ArrowTickWriter } from "./encode_arrow.ts";
import { choosePacking, matchesTag, pack } from "../negotiation.ts";
import { createPieceCache, type PieceCache } from "./piece_cache.ts";
import { type RowFormat, TickWriter } from "./tick_writer.ts";

// Large enough that a piece costs little to hand on, small enough that memory stays flat.
const PIECE_BYTES = 262_144;
// The same range may be written again (a provider revised it, a file was imported), so caches ask again after a minute.
const CACHE_CONTROL = "public, max-age=60";

// Text of the chunks that were asked for lately: a year of 1m candles is 60 MiB of JSON, and takes longer to write than to send.
const REMEMBERED_BYTES_MAX = 64 * 1024 * 1024;
const remembered = createPieceCache(REMEMBERED_BYTES_MAX);

type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>>;

const FORMATS: Record<TicksFormat, { type: string; write: (answer: TicksAnswer, cache: PieceCache) => Pieces }> = {
  json: { type: "application/json", write: writeJson },
  csv: { type: "text/csv; charset=utf-8", write: writeCsv },
  arrow: { type: "application/vnd.apache.arrow.stream", write: writeArrow },
};

/**
 * Candles as a response that is written while they are read: the reader's pace is the pace of reading, and memory stays flat.
 *
 * The format is what the request names, else what its Accept header prefers, else JSON. JSON holds the cursor of a page; the other formats
 * have no place for it, so it is in the header x-next-cursor.
 *
 * @param cache Where the text of stored chunks is remembered; default that of the process.
 * @returns 304 for who has the same already.
 */
export function encodeTicks(answer: TicksAnswer, request: Request, cache: PieceCache = remembered): Response {
  const format = answer.format ?? preferredFormat(request.headers.get("accept"));
  const packing = choosePacking(request.headers.get("accept-encoding"));
  // Packed bytes are other bytes, so they have another tag.
  const tag = `"${answer.tag}-${format}${packing === null ? "" : `-${packing}`}"`;
  const headers = new Headers({ etag: tag, "cache-control": CACHE_CONTROL, vary: "accept, accept-encoding" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", FORMATS[format].type);
  if (format !== "json" && typeof answer.nextCursor === "string") headers.set("x-next-cursor", answer.nextCursor);
  const pieces = FORMATS[format].write(answer, cache);
  if (packing === null) return new Response(streamOf(pieces), { headers });
  headers.set("content-encoding", packing);
  return new Response(streamOf(pack(pieces, packing)), { headers });
}

/** The first of the header's types that we can give, by weight and then by order (RFC 9110, section 12.5.1). */
function preferredFormat(accept: string | null): TicksFormat {
  for (const { type, q } of parseAccept((accept ?? "").toLowerCase())) {
    if (q === 0) break;
    if (type === "text/csv") return "csv";
    if (type === "application/vnd.apache.arrow.stream") return "arrow";
    if (type === "application/json" || type === "*/*" || type === "application/*") return "json";
  }
  return "json";
}

// A row ends with a comma, which is taken back from the last.
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
  // A piece is held back until it is known whether another row follows.
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

/** Rows in pieces of a page each; those of stored chunks that were written lately are remembered. */
async function* writeRows(
  name: TicksFormat,
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

/** Each batch, when the next one is being read already: the database and the reader of the answer need not wait for each other. */
async function* readAhead(name: TicksFormat, batches: TicksAnswer["batches"], cache: PieceCache) {
  let last;
  for await (const batch of batches) {
    const key = batch.sha256 === null ? null : `${name} ${batch.sha256}`;
    const work = (key === null ? undefined : cache.get(key)) ?? batch.read();
    // A failure is thrown when its turn comes, if anybody is still there then.
    if (work instanceof Promise) work.catch(() => {});
    if (last !== undefined) yield last;
    last = { key, work };
  }
  if (last !== undefined) yield last;
}

async function* writeArrow({ head, batches }: TicksAnswer): Pieces {
  const writer = new ArrowTickWriter({ ...head });
  yield writer.start();
  for await (const batch of batches) yield writer.batch(await batch.read());
  yield writer.end();
}

function textBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

/** Nothing is made before it is asked for, and a reader who leaves ends the reading. */
function streamOf(pieces: Pieces): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await pieces.return(undefined);
    },
  }, { highWaterMark: 0 });
}
