import { KEEP_ALIVE_MS } from "../../routers/common/trpc.ts";

/** One server-sent event; a client that lost the connection continues after `id`. */
export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/**
 * Events as a `text/event-stream`. It skips the newest event where the client's Last-Event-ID names it.
 *
 * @param keepAliveMs The time between comments that keep the connection open.
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
      keepAlive = setInterval(() => {
        // Clients ignore comments. For one that does not read they would pile up.
        if (controller.desiredSize === 0) controller.enqueue(encoder.encode(": still here\n\n"));
      }, keepAliveMs);
    },
    async pull(controller) {
      for (;;) {
        const { value, done } = await events.next().catch((error) => {
          // The timer must not write to a failed stream: that would end the process.
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
    // An event that nobody has read yet is not made.
  }, { highWaterMark: 0 });
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      // nginx would hold the events back.
      "x-accel-buffering": "no",
    },
  });
}
