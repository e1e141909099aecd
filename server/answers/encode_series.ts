import type { SeriesAnswer } from "../../routers/backtests/series.ts";
import type { TablePart } from "../../workers/rows/table_part.ts";
import { writeTable } from "./encode_table.ts";
import { chooseFormat, sendPieces } from "./send_pieces.ts";
import { sendJson } from "./stream_limits.ts";

// A piece is written without a break, and others wait for it.
const PIECE_VALUES = 32_768;

/** A series of a backtest as JSON, CSV or an Arrow stream, in pieces that keep the client's pace. */
export async function encodeSeries(answer: SeriesAnswer, request: Request): Promise<Response> {
  const headers = new Headers({ "cache-control": "private, no-cache", vary: "accept" });
  const format = chooseFormat(answer.format, request);
  if (format === "json") return sendJson(JSON.stringify(await answer.body()), { headers });
  const names = ["timestamp", ...answer.columns];
  const columns = names.map((name, i) => ({
    name,
    kind: i === 0 ? "time" as const : "number" as const,
    isNullable: false,
  }));
  return sendPieces(writeTable(format, columns, cut(answer)), {
    format,
    request,
    headers,
    nextCursor: answer.nextCursor,
  });
}

/** The rows of a series, a few thousand at a time. */
async function* cut({ columns, pieces }: SeriesAnswer): AsyncGenerator<TablePart> {
  const pieceRows = Math.ceil(PIECE_VALUES / (1 + columns.length));
  for await (const { time, columns: values } of pieces()) {
    for (let from = 0; from < time.length; from += pieceRows) {
      const until = Math.min(from + pieceRows, time.length);
      const parts = [time, ...columns.map((name) => values[name]!)].map((column) => column.subarray(from, until));
      yield { length: until - from, values: parts };
    }
  }
}
