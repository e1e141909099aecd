import type { SeriesAnswer } from "../routers/series.ts";
import { ArrowWriter } from "./arrow_writer.ts";
import { sendJson } from "./middleware/stream_limits.ts";

// A piece is written without a break, and others wait for it.
const PIECE_ROWS = 8192;

const encoder = new TextEncoder();

type Columns = Extract<SeriesAnswer, { pieces: unknown }>;

/** A series of a backtest as JSON, CSV or an Arrow stream, in pieces that keep the client's pace. */
export function encodeSeries(answer: SeriesAnswer): Response {
  const headers = new Headers({ "cache-control": "private, no-cache" });
  if (answer.format === "json") return sendJson(JSON.stringify(answer.body), { headers });
  const isCsv = answer.format === "csv";
  headers.set("content-type", isCsv ? "text/csv; charset=utf-8" : "application/vnd.apache.arrow.stream");
  const texts = isCsv ? writeCsv(answer) : writeArrow(answer);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await texts.return(undefined);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers });
}

/** The rows of a series, a few thousand at a time. */
async function* cut({ columns, pieces }: Columns) {
  for await (const { time, columns: values } of pieces) {
    for (let from = 0; from < time.length; from += PIECE_ROWS) {
      const until = from + PIECE_ROWS;
      yield { time: time.subarray(from, until), values: columns.map((name) => values[name]!.subarray(from, until)) };
    }
  }
}

async function* writeCsv(answer: Columns): AsyncGenerator<Uint8Array> {
  yield encoder.encode(`${["timestamp", ...answer.columns].join(",")}\n`);
  for await (const { time, values } of cut(answer)) {
    let text = "";
    for (let row = 0; row < time.length; row++) {
      text += new Date(time[row]!).toISOString();
      for (const column of values) text += `,${column[row]!}`;
      text += "\n";
    }
    yield encoder.encode(text);
  }
}

async function* writeArrow(answer: Columns): AsyncGenerator<Uint8Array> {
  const writer = new ArrowWriter([...answer.columns], {});
  yield writer.start();
  for await (const { time, values } of cut(answer)) yield writer.batch(time, values);
  yield writer.end();
}
