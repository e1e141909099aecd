import { sendJson } from "./stream_limits.ts";
import { type Pieces, streamOf } from "./send_pieces.ts";

// About 64 KiB of the longest lines.
const LINES_PER_PIECE = 64;

/** Sends the log of a run, a long one in pieces and at the client's pace. */
export function encodeLog({ log }: { readonly log: readonly string[] }): Response {
  if (log.length <= LINES_PER_PIECE) return sendJson(JSON.stringify({ log }));
  return new Response(streamOf(writeLines(log)), { headers: { "content-type": "application/json" } });
}

async function* writeLines(log: readonly string[]): Pieces {
  const encoder = new TextEncoder();
  yield encoder.encode('{"log":[');
  for (let n = 0; n < log.length; n += LINES_PER_PIECE) {
    const lines = log.slice(n, n + LINES_PER_PIECE).map((line) => JSON.stringify(line));
    yield encoder.encode((n === 0 ? "" : ",") + lines.join());
  }
  yield encoder.encode("]}");
}
