import { parseAccept } from "hono/utils/accept";
import type { Format } from "../../workers/rows/table_format.ts";
import { choosePacking, pack } from "./negotiation.ts";

/** An answer in pieces, which are made as they are read. */
export type Pieces = AsyncGenerator<Uint8Array<ArrayBuffer>>;

const FORMAT_TYPES: Readonly<Record<Format, string>> = {
  json: "application/json",
  csv: "text/csv; charset=utf-8",
  arrow: "application/vnd.apache.arrow.stream",
};

/** The format of an answer: the one that the query asks for, else the first of the Accept header that is ours, else JSON. */
export function chooseFormat(asked: Format | undefined, request: Request): Format {
  return asked ?? preferredFormat(request.headers.get("accept"));
}

/** The first supported type of the header, by weight and then by order (RFC 9110, section 12.5.1). */
function preferredFormat(accept: string | null): Format {
  for (const { type, q } of parseAccept((accept ?? "").toLowerCase())) {
    if (q === 0) break;
    if (type === "text/csv") return "csv";
    if (type === FORMAT_TYPES.arrow) return "arrow";
    if (type === "application/json" || type === "*/*" || type === "application/*") return "json";
  }
  return "json";
}

/**
 * Streams pieces as a response, at the client's pace so that memory stays flat, packed as the client accepts.
 *
 * @param nextCursor Where the next page begins. CSV and Arrow have no place for it, and send it in the header x-next-cursor.
 */
export function sendPieces(
  pieces: Pieces,
  { format, request, headers, nextCursor }: {
    readonly format: Format;
    readonly request: Request;
    readonly headers: Headers;
    readonly nextCursor?: string | null | undefined;
  },
): Response {
  headers.set("content-type", FORMAT_TYPES[format]);
  headers.set("vary", "accept, accept-encoding");
  if (format !== "json" && typeof nextCursor === "string") headers.set("x-next-cursor", nextCursor);
  const packing = choosePacking(request.headers.get("accept-encoding"));
  if (packing === null) return new Response(streamOf(pieces), { headers });
  headers.set("content-encoding", packing);
  return new Response(streamOf(pack(pieces, packing)), { headers });
}

/** A stream that pulls pieces on demand; a reader that leaves ends their source. */
export function streamOf(pieces: Pieces): ReadableStream<Uint8Array<ArrayBuffer>> {
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
