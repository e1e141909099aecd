import type { Format } from "../../workers/rows/table_format.ts";
import type { ListAnswer } from "../../routers/common/paging.ts";
import { toTablePart } from "../../workers/rows/table_part.ts";
import { frameTable, writeTable } from "./encode_table.ts";
import { chooseFormat, type Pieces, sendPieces, streamOf } from "./send_pieces.ts";
import { sendJson } from "./stream_limits.ts";

/**
 * Sends a list while it is read, at the client's pace, so that memory stays flat: as JSON, or, where its rows are a table, as CSV or
 * Arrow. JSON of one piece is sent at once.
 *
 * A fault before the first piece has its own status. A later one breaks the answer off, so that nobody takes a part for the whole.
 */
export async function encodeList({ name, pages, table }: ListAnswer, request: Request): Promise<Response> {
  if (table?.write !== undefined) return await sendWritten(name, table, request);
  const first = await pages.next();
  if (first.done) throw new Error(`Cannot send ${name}: there is no page`);
  const format: Format = table === undefined ? "json" : chooseFormat(table.format, request);
  if (table !== undefined && format !== "json") {
    const { columns, toRow = (item: object) => item } = table;
    const parts = async function* () {
      for await (const { items } of following([first.value], pages)) yield toTablePart(columns, items.map(toRow));
    };
    const nextCursor = table.isPage ? first.value.next_cursor : null;
    return sendPieces(writeTable(format, table.columns, parts()), {
      format,
      request,
      headers: new Headers(),
      nextCursor,
    });
  }
  const second = await pages.next();
  const { items, next_cursor } = first.value;
  const headers = new Headers({ "content-type": "application/json" });
  if (table !== undefined) headers.set("vary", "accept");
  if (second.done) return sendJson(JSON.stringify({ [name]: items, next_cursor }), { headers });
  return new Response(streamOf(writeJson(name, [first.value, second.value], pages)), { headers });
}

/** Sends the rows that the list's own writer makes. */
async function sendWritten(
  name: string,
  { format: asked, columns, write }: NonNullable<ListAnswer["table"]>,
  request: Request,
): Promise<Response> {
  const format = chooseFormat(asked, request);
  const written = write!(format);
  const first = await written.next();
  if (format !== "json") {
    const rows = first.done ? written : following([first.value], written);
    return sendPieces(frameTable(format, columns, rows), { format, request, headers: new Headers() });
  }
  const headers = new Headers({ "content-type": "application/json", vary: "accept" });
  const second = first.done ? first : await written.next();
  const begun = [first, second].flatMap((piece) => piece.done ? [] : [piece.value]);
  const pieces = frameJson(name, following(begun, written));
  if (!second.done) return new Response(streamOf(pieces), { headers });
  return sendJson(await new Response(streamOf(pieces)).text(), { headers });
}

async function* frameJson(name: string, rows: Pieces): Pieces {
  const encoder = new TextEncoder();
  try {
    let begin = `{${JSON.stringify(name)}:[`;
    for await (const piece of rows) {
      yield encoder.encode(begin);
      yield piece;
      begin = ",";
    }
    yield encoder.encode(`${begin === "," ? "" : begin}],"next_cursor":null}`);
  } finally {
    await rows.return(undefined);
  }
}

/** A list that was begun. A reader who leaves ends its source. */
async function* following<Part>(begun: readonly Part[], rest: AsyncGenerator<Part>): AsyncGenerator<Part> {
  try {
    yield* begun;
    yield* rest;
  } finally {
    await rest.return(undefined);
  }
}

async function* writeJson(
  name: string,
  begun: readonly { readonly items: readonly unknown[] }[],
  rest: ListAnswer["pages"],
): Pieces {
  const encoder = new TextEncoder();
  let separator = "";
  const write = (items: readonly unknown[]) => {
    if (items.length === 0) return encoder.encode();
    const text = separator + items.map((item) => JSON.stringify(item)).join();
    separator = ",";
    return encoder.encode(text);
  };
  try {
    yield encoder.encode(`{${JSON.stringify(name)}:[`);
    for (const { items } of begun) yield write(items);
    for await (const { items } of rest) yield write(items);
    yield encoder.encode('],"next_cursor":null}');
  } finally {
    await rest.return(undefined);
  }
}
