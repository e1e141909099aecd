import type { Series, SeriesAnswer } from "../routers/series.ts";
import { ArrowWriter } from "./arrow_writer.ts";

// A piece is written without a break, and others wait for it.
const PIECE_ROWS = 8192;

const encoder = new TextEncoder();

/** A series of a backtest as JSON, CSV or an Arrow stream, in pieces that keep the client's pace. */
export function encodeSeries(answer: SeriesAnswer): Response {
  const headers = new Headers({ "cache-control": "private, no-cache" });
  if (answer.format === "json") return Response.json(answer.body, { headers });
  const { series } = answer;
  const isCsv = answer.format === "csv";
  headers.set("content-type", isCsv ? "text/csv; charset=utf-8" : "application/vnd.apache.arrow.stream");
  return new Response(ReadableStream.from(isCsv ? writeCsv(series) : writeArrow(series)), { headers });
}

function* writeCsv({ time, columns }: Series<string>) {
  const values = Object.values(columns);
  yield encoder.encode(`${["timestamp", ...Object.keys(columns)].join(",")}\n`);
  for (let from = 0; from < time.length; from += PIECE_ROWS) {
    let text = "";
    for (let row = from; row < Math.min(from + PIECE_ROWS, time.length); row++) {
      text += new Date(time[row]!).toISOString();
      for (const column of values) text += `,${column[row]!}`;
      text += "\n";
    }
    yield encoder.encode(text);
  }
}

function* writeArrow({ time, columns }: Series<string>) {
  const writer = new ArrowWriter(Object.keys(columns), {});
  yield writer.start();
  for (let from = 0; from < time.length; from += PIECE_ROWS) {
    const until = from + PIECE_ROWS;
    yield writer.batch(
      time.subarray(from, until),
      Object.values(columns).map((column) => column.subarray(from, until)),
    );
  }
  yield writer.end();
}
