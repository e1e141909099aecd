import type { Context as HonoContext } from "hono";

const WITHOUT_BODY = new Set([204, 205, 304]);

/** Ends what would have written the body: of an answer to HEAD nobody reads one. */
export async function discardBody(c: HonoContext, next: () => Promise<void>): Promise<void> {
  await next();
  if (c.req.method === "HEAD") await c.res.body?.cancel();
}

/**
 * An answer to HEAD that says nothing of a length: of one without any body the runtime would tell 0, which is not that of GET's, and a
 * stream's is not known.
 */
export function withoutLength(answer: Response): Response {
  if (WITHOUT_BODY.has(answer.status)) return answer;
  return new Response(new ReadableStream({ start: (body) => body.close() }), answer);
}
