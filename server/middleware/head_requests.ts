import type { Context as HonoContext } from "hono";

const WITHOUT_BODY = new Set([204, 205, 304]);

/** Cancels the body of an answer to HEAD, which no client reads. */
export async function discardBody(c: HonoContext, next: () => Promise<void>): Promise<void> {
  await next();
  if (c.req.method === "HEAD") await c.res.body?.cancel();
}

/** An answer to HEAD without a length: the runtime would send 0, which is not the length that GET's answer has. */
export function withoutLength(answer: Response): Response {
  if (WITHOUT_BODY.has(answer.status)) return answer;
  return new Response(new ReadableStream({ start: (body) => body.close() }), answer);
}
