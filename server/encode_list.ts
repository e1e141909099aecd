import type { ListAnswer } from "../routers/paging.ts";
import { sendJson } from "./middleware/stream_limits.ts";

/**
 * Sends a list as JSON while it is read, at the client's pace, so that memory stays flat. A list of one piece is sent at once.
 *
 * A fault before the first piece has its own status. A later one breaks the answer off, so that nobody takes a part for the whole.
 */
export async function encodeList({ name, pages }: ListAnswer): Promise<Response> {
  const first = await pages.next();
  if (first.done) throw new Error(`Cannot send ${name}: there is no page`);
  const second = await pages.next();
  const { items, next_cursor } = first.value;
  if (second.done) return sendJson(JSON.stringify({ [name]: items, next_cursor }));
  const encoder = new TextEncoder();
  const texts = writeList(name, [first.value, second.value], pages);
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await texts.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
    async cancel() {
      await texts.return(undefined);
      await pages.return(undefined);
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers: { "content-type": "application/json" } });
}

async function* writeList(
  name: string,
  begun: readonly { readonly items: readonly unknown[] }[],
  rest: ListAnswer["pages"],
): AsyncGenerator<string> {
  let separator = "";
  const write = (items: readonly unknown[]) => {
    if (items.length === 0) return "";
    const text = separator + items.map((item) => JSON.stringify(item)).join();
    separator = ",";
    return text;
  };
  yield `{${JSON.stringify(name)}:[`;
  for (const { items } of begun) yield write(items);
  for await (const { items } of rest) yield write(items);
  yield '],"next_cursor":null}';
}
