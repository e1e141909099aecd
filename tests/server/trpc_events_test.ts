import { expect } from "@std/expect";
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client";
import { listen } from "../../main.ts";
import type { RunningService } from "../../server/http_service.ts";
import type { AppRouter } from "../../routers/app.ts";
import { readConfig } from "../../server/config.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

/** Waits until a subscriber has been told something a number of times. */
const heard = (told: readonly string[], text: string, times = 1) =>
  until(() => told.filter((each) => each === text).length >= times);

Deno.test("a typed client follows a backtest through a restart of the service, to its end and not before", async (t) => {
  const { url, drop } = await createTestDatabase("service");
  const environment = { PORT: "0", WORKERS: "0", LOG_LEVEL: "error", DATABASE_URL: url };
  const start = () => listen(readConfig({ ...environment, BETTER_AUTH_SECRET: "a secret of at least 32 characters" }));
  let service = start();
  const user = new TestClient((await service).url);
  await user.signUp();
  // A browser would send the cookie by itself; the runtime's EventSource sends none.
  const proxy = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async ({ url, signal }) => {
    const { pathname, search } = new URL(url);
    const headers = { cookie: user.cookie };
    return await fetch(`${(await service).url}${pathname}${search}`, { headers, signal });
  });
  const links = [httpSubscriptionLink({ url: `http://127.0.0.1:${proxy.addr.port}/trpc` })];
  const api = createTRPCClient<AppRouter>({ links });
  const follow = (id: string) => {
    const told: string[] = [];
    const subscription = api.backtests.onEvent.subscribe({ id }, {
      onData: ({ status }) => told.push(status),
      onError: ({ data }) => told.push(`refused: ${data?.appCode}`),
      onComplete: () => told.push("complete"),
    });
    return { told, subscription };
  };
  const send = async (method: string, path: string, body?: unknown) =>
    await new TestClient((await service).url).send(method, `/api/backtests${path}`, body, { cookie: user.cookie });
  const submit = async () => String((await send("POST", "", { backtest: BACKTEST })).at("/backtest/id"));

  await t.step("to its end, though the service ends before", async () => {
    const id = await submit();
    const { told } = follow(id);
    await heard(told, "queued");
    const first = await service;
    // Clients that connect meanwhile wait.
    const next = Promise.withResolvers<RunningService>();
    service = next.promise;
    await first.close();
    const before = told.length;
    next.resolve(await start());
    await heard(told, "queued", before + 1);
    expect((await send("POST", `/${id}/cancel`)).status).toBe(202);
    await heard(told, "complete");
    expect(told.filter((each) => each !== "queued")).toEqual(["cancelled", "complete"]);
  });

  await t.step("one that is deleted, and one that is another's, is told as none", async () => {
    const id = await submit();
    const { told } = follow(id);
    await heard(told, "queued");
    expect((await send("DELETE", `/${id}`)).status).toBe(204);
    await heard(told, "refused: BACKTEST_NOT_FOUND");
    const other = new TestClient((await service).url);
    await other.signUp();
    const theirs = follow(
      String((await other.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id")),
    );
    await heard(theirs.told, "refused: BACKTEST_NOT_FOUND");
    expect([told, theirs.told].map((each) => each.includes("complete"))).toEqual([false, false]);
  });

  await t.step("a client that leaves gets no more events", async () => {
    const { told, subscription } = follow(await submit());
    await heard(told, "queued");
    subscription.unsubscribe();
  });
  await proxy.shutdown();
  await (await service).close();
  await drop();
});
