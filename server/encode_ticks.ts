import type { TicksAnswer } from "../routers/market_data.ts";
import { ByteWriter, textBytes } from "./byte_writer.ts";
import { matchesTag } from "./rest.ts";

// Large enough that a piece costs little to hand on, small enough that memory stays flat.
const PIECE_BYTES = 65_536;
const ROW_BYTES_MAX = 512;
// The same range may be written again (a provider revised it, a file was imported), so caches ask again after a minute.
const CACHE_CONTROL = "public, max-age=60";

type Batch = TicksAnswer["batches"] extends AsyncIterable<infer Each> | Iterable<infer Each> ? Each : never;

const FIRST_ROW = textBytes('{"timestamp":"');
const NEXT_ROW = textBytes(',{"timestamp":"');
const OPEN = textBytes('","open":');
const HIGH = textBytes(',"high":');
const LOW = textBytes(',"low":');
const CLOSE = textBytes(',"close":');
const VOLUME = textBytes(',"volume":');
const ROW_END = textBytes("}");

/**
 * Candles as a response that is written while they are read: the reader's pace is the pace of reading, and memory stays flat.
 *
 * @returns 304 for who has the same already.
 */
export function encodeTicks(answer: TicksAnswer, request: Request): Response {
  const tag = `"${answer.tag}-json"`;
  const headers = new Headers({ etag: tag, "cache-control": CACHE_CONTROL, vary: "accept" });
  if (matchesTag(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  headers.set("content-type", "application/json");
  return new Response(streamOf(writeJson(answer)), { headers });
}

async function* writeJson({ head, batches, nextCursor }: TicksAnswer): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const writer = new ByteWriter(PIECE_BYTES, ROW_BYTES_MAX);
  writer.write(textBytes(`${JSON.stringify(head).slice(0, -1)},"ticks":[`));
  let rowStart = FIRST_ROW;
  for await (const batch of batches) {
    for (let from = 0; from < batch.time.length;) {
      from = writeRows(writer, batch, from, rowStart);
      rowStart = NEXT_ROW;
      if (writer.isFull) yield writer.take();
    }
  }
  const end = nextCursor === undefined ? "]}" : `],"next_cursor":${JSON.stringify(nextCursor)}}`;
  writer.write(textBytes(end));
  yield writer.take();
}

/** Writes rows until there are no more or the page is full; returns the index of the next. */
function writeRows(writer: ByteWriter, batch: Batch, from: number, firstStart: Uint8Array): number {
  const { time, open, high, low, close, volume } = batch;
  let i = from;
  let start = firstStart;
  for (; i < time.length && !writer.isFull; i++) {
    writer.write(start);
    writer.writeMinute(time[i]!);
    writer.write(OPEN);
    writer.writeNumber(open[i]!);
    writer.write(HIGH);
    writer.writeNumber(high[i]!);
    writer.write(LOW);
    writer.writeNumber(low[i]!);
    writer.write(CLOSE);
    writer.writeNumber(close[i]!);
    writer.write(VOLUME);
    writer.writeNumber(volume[i]!);
    writer.write(ROW_END);
    start = NEXT_ROW;
  }
  return i;
}

/** Nothing is made before it is asked for, and a reader who leaves ends the reading. */
function streamOf(pieces: AsyncGenerator<Uint8Array<ArrayBuffer>>): ReadableStream<Uint8Array<ArrayBuffer>> {
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
