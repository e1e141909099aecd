import { KEEP_ALIVE_MS } from "../routers/trpc.ts";

/** One server-sent event; `id` lets a client that lost the connection go on after it. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/**
 * Events as a `text/event-stream` that begins after the client's Last-Event-ID, if that is still the newest.
 *
 * @param keepAliveMs How often something is sent where nothing happens.
 */
export function encodeEvents(
  events: AsyncGenerator<ServerEvent>,
  request: Request,
  keepAliveMs = KEEP_ALIVE_MS,
): Response {
  const seen = request.headers.get("last-event-id");
  const encoder = new TextEncoder();
  let keepAlive: ReturnType<typeof setInterval> | undefined;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      // A comment is nothing to a client.
      keepAlive = setInterval(() => controller.enqueue(encoder.encode(": still here\n\n")), keepAliveMs);
    },
    async pull(controller) {
      for (;;) {
        const { value, done } = await events.next().catch((error) => {
          // Nobody can write to a stream that has failed: the timer's next turn would end the process.
          clearInterval(keepAlive);
          throw error;
        });
        if (done) {
          clearInterval(keepAlive);
          return controller.close();
        }
        if (value.id === seen) continue;
        const text = `id: ${value.id}\nevent: ${value.event}\ndata: ${JSON.stringify(value.data)}\n\n`;
        return controller.enqueue(encoder.encode(text));
      }
    },
    async cancel() {
      clearInterval(keepAlive);
      await events.return(undefined);
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
}
