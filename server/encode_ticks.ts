import type { TicksAnswer, TicksFormat } from "../routers/market_data.ts";
import { ArrowTickWriter } from "./encode_arrow.ts";
import { matchesTag } from "./rest.ts";
import { type RowFormat, TickWriter } from "./tick_writer.ts";

// Large enough that a piece costs little to hand on, small enough that memory stays flat.
const PIECE_BYTES = 65_536;
// The same range may be written again (a provider revised it, a file was imported), so caches ask again after a minute.
const CACHE_CONTROL = "public, max-age=60";

type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>>;

const FORMATS: Record<TicksFormat, { type: string; write: (answer: TicksAnswer) => Pieces }> = {
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
 * @returns 304 for who has the same already.
 */
export function encodeTicks(answer: TicksAnswer, request: Request): Response {
  const format = answer.format ?? preferredFormat(request.headers.get("accept"));
  const tag = `"${answer.tag}-${format}"`;
  const headers = new Headers({ etag: tag, "cache-control": CACHE_CONTROL, vary: "accept" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", FORMATS[format].type);
  if (format !== "json" && typeof answer.nextCursor === "string") headers.set("x-next-cursor", answer.nextCursor);
  return new Response(streamOf(FORMATS[format].write(answer)), { headers });
}

/** The first of the header's types that we can give, by weight and then by order (RFC 9110, section 12.5.1). */
function preferredFormat(accept: string | null): TicksFormat {
  const wishes = (accept ?? "").split(",").map((part) => {
    const [type = "", ...parameters] = part.toLowerCase().split(";").map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith("q="))?.slice(2);
    return { type, weight: weight === undefined ? 1 : Number(weight) };
  });
  for (const { type, weight } of wishes.toSorted((a, b) => b.weight - a.weight)) {
    if (!(weight > 0)) break;
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

async function* writeJson({ head, batches, nextCursor }: TicksAnswer): Pieces {
  const writer = new TickWriter(JSON_ROWS, PIECE_BYTES);
  writer.writeText(`${JSON.stringify(head).slice(0, -1)},"ticks":[`);
  let pending = writer.take();
  let hasRows = false;
  for await (const batch of batches) {
    for (let from = 0; from < batch.time.length;) {
      from = writer.writeRows(batch, from);
      hasRows = true;
      if (!writer.isFull) continue;
      // A piece is held back until it is known whether another row follows.
      yield pending;
      pending = writer.take();
    }
  }
  const rest = writer.take();
  if (rest.length > 0) {
    yield pending;
    pending = rest;
  }
  yield hasRows ? pending.subarray(0, -1) : pending;
  writer.writeText(nextCursor === undefined ? "]}" : `],"next_cursor":${JSON.stringify(nextCursor)}}`);
  yield writer.take();
}

const CSV_ROWS: RowFormat = { start: "", open: ",", high: ",", low: ",", close: ",", volume: ",", end: "\n" };

async function* writeCsv({ batches }: TicksAnswer): Pieces {
  const writer = new TickWriter(CSV_ROWS, PIECE_BYTES);
  writer.writeText("timestamp,open,high,low,close,volume\n");
  for await (const batch of batches) {
    for (let from = 0; from < batch.time.length;) {
      from = writer.writeRows(batch, from);
      if (writer.isFull) yield writer.take();
    }
  }
  yield writer.take();
}

async function* writeArrow({ head, batches }: TicksAnswer): Pieces {
  const writer = new ArrowTickWriter({ ...head });
  yield writer.start();
  for await (const batch of batches) yield writer.batch(batch);
  yield writer.end();
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
