import { type Feed, FeedError, type FeedRequest } from "../../market/feeds/feed.ts";

export type Handler = (url: URL, request: Request) => Response | Promise<Response>;

/** A provider on a local socket, for the time of a test. */
export async function withProvider(handler: Handler, body: (baseUrl: string, asked: string[]) => Promise<void>) {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const url = new URL(request.url);
    asked.push(`${url.pathname}${url.search}`);
    return handler(url, request);
  });
  try {
    await body(`http://127.0.0.1:${server.addr.port}`, asked);
  } finally {
    await server.shutdown();
  }
}

/** The candles of a feed, flat: rows of time, open, high, low, close, volume, and the parts' ranges. */
export async function fetchAll(feed: Feed, request: FeedRequest) {
  const parts = await Array.fromAsync(feed.fetch(request));
  const rows = parts.flatMap(({ candles: { time, open, high, low, close, volume } }) =>
    Array.from(time, (each, i) => [new Date(each).toISOString(), open[i], high[i], low[i], close[i], volume[i]])
  );
  const ranges = parts.map(({ start, end }) => [new Date(start).toISOString(), new Date(end).toISOString()]);
  return { rows, ranges, rejected: parts.reduce((sum, part) => sum + (part.rejected ?? 0), 0) };
}

/** The error with which a feed refuses. */
export async function faultOf(attempt: Promise<unknown>): Promise<FeedError> {
  const error: unknown = await attempt.then(() => null, (reason) => reason);
  if (error instanceof FeedError) return error;
  throw new Error(`Cannot see a feed's error but ${error}`);
}
