import { expect } from "@std/expect";
import { Hono } from "hono";
import { errorBody, errorStatus, toAppError } from "../../../routers/errors.ts";
import type { ServerEnv } from "../../../server/context.ts";
import { limitStreams } from "../../../server/middleware/stream_limits.ts";

/** Serves an endless answer, whose source notifies when it is given up. */
function serveEndless(limits: { addressMax: number; max: number; stallMs: number }) {
  const app = new Hono<ServerEnv>();
  const ended = Promise.withResolvers<void>();
  app.use(async (c, next) => {
    c.set("clientAddress", c.req.header("x-address") ?? "");
    await next();
  });
  app.use(limitStreams(limits));
  app.get("/", () =>
    new Response(
      new ReadableStream({
        pull: (body) => body.enqueue(new Uint8Array(1024)),
        cancel: () => ended.resolve(),
      }, { highWaterMark: 0 }),
    ));
  app.onError((error, c) => {
    const appError = toAppError(error);
    return c.json({ code: errorBody(appError, "").error.code }, errorStatus(appError) === 429 ? 429 : 503);
  });
  const ask = async (address: string) => await app.request("/", { headers: { "x-address": address } });
  return { ask, ended: ended.promise };
}

Deno.test("an address has so many answers under way, and all together have so many; an end makes room", async () => {
  const { ask } = serveEndless({ addressMax: 2, max: 3, stallMs: 60_000 });
  const first = await ask("192.0.2.1");
  const open = [first, await ask("192.0.2.1")];
  const refused = await ask("192.0.2.1");
  expect([refused.status, await refused.json()]).toEqual([429, { code: "RATE_LIMITED" }]);
  open.push(await ask("192.0.2.2"));
  const full = await ask("192.0.2.3");
  expect([full.status, await full.json()]).toEqual([503, { code: "UNAVAILABLE" }]);
  await first.body?.cancel();
  open[0] = await ask("192.0.2.3");
  expect(open.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const { body } of open) await body?.cancel();
});

Deno.test("an answer that nobody reads is given up, whether or not its beginning was read", async () => {
  for (const pieces of [0, 1]) {
    const { ask, ended } = serveEndless({ addressMax: 1, max: 1, stallMs: 20 });
    const reader = (await ask("192.0.2.1")).body!.getReader();
    for (let i = 0; i < pieces; i++) expect((await reader.read()).value?.byteLength).toBe(1024);
    await ended;
    await expect(reader.read()).rejects.toThrow("the client has read nothing for 0.02 s");
    const next = await ask("192.0.2.1");
    expect(next.status).toBe(200);
    await next.body?.cancel();
  }
});
