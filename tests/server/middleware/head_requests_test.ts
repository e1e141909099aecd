import { expect } from "@std/expect";
import { Hono } from "hono";
import { discardBody } from "../../../server/middleware/head_requests.ts";
import { type Answer, BACKTEST } from "../../support/client.ts";
import { startTestService } from "../../support/service.ts";

/** The headers but those that tell of the moment and of the body's way. */
function lasting({ headers }: Answer): Record<string, string> {
  const passing = ["date", "x-request-id", "ratelimit", "content-length", "transfer-encoding"];
  return Object.fromEntries([...headers].filter(([name]) => !passing.includes(name)));
}

const TICKS = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2024-02-01";

Deno.test("HEAD answers as GET does, without a body and without a length that is not GET's", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const id = (await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id");
  for (
    const path of [
      "/api/health",
      "/api/session",
      `/api/backtests/${id}`,
      TICKS,
      `${TICKS}&format=arrow`,
      "/api/nothing",
      "/nothing",
      "/api/auth/get-session",
    ]
  ) {
    const [get, head] = [await user.get(path), await user.send("HEAD", path)];
    expect([path, head.status, head.text]).toEqual([path, get.status, ""]);
    expect([path, head.headers.get("content-length")]).toEqual([path, null]);
    expect([path, lasting(head)]).toEqual([path, lasting(get)]);
  }
  const { headers } = await user.get(`/api/backtests/${id}`);
  const unchanged = { "if-none-match": headers.get("etag") ?? "" };
  expect((await user.send("HEAD", `/api/backtests/${id}`, undefined, unchanged)).status).toBe(304);
  await service.close();
});

Deno.test("HEAD ends the stream of a body that nobody will read", async () => {
  const ended = Promise.withResolvers<void>();
  const app = new Hono().use(discardBody).get("/", () => new Response(new ReadableStream({ cancel: ended.resolve })));
  await app.request("/", { method: "HEAD" });
  await ended.promise;
});
