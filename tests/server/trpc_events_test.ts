import { expect } from "@std/expect";
import { createTRPCClient, httpSubscriptionLink } from "@trpc/client";
import { listen, type RunningService } from "../../main.ts";
import type { AppRouter } from "../../routers/app.ts";
import { readConfig } from "../../server/config.ts";
import { BACKTEST, TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";

/** What a subscriber has been told, and a promise of each thing that he waits for. */
class Told {
  readonly said: string[] = [];
  #wake = Promise.withResolvers<void>();

  tell(text: string): void {
    this.said.push(text);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  async until(text: string, times = 1): Promise<void> {
    while (this.said.filter((each) => each === text).length < times) await this.#wake.promise;
  }
}

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
    const told = new Told();
    const subscription = api.backtests.onEvent.subscribe({ id }, {
      onData: ({ status }) => told.tell(status),
      onError: ({ data }) => told.tell(`refused: ${data?.appCode}`),
      onComplete: () => told.tell("complete"),
    });
    return { told, subscription };
  };
  const send = async (method: string, path: string, body?: unknown) =>
    await new TestClient((await service).url).send(method, `/api/backtests${path}`, body, { cookie: user.cookie });
  const submit = async () => String((await send("POST", "", { backtest: BACKTEST })).at("/backtest/id"));

  await t.step("to its end, though the service ends before", async () => {
    const id = await submit();
    const { told } = follow(id);
    await told.until("queued");
    const first = await service;
    // Who connects meanwhile waits.
    const next = Promise.withResolvers<RunningService>();
    service = next.promise;
    await first.close();
    const before = told.said.length;
    next.resolve(await start());
    await told.until("queued", before + 1);
    expect((await send("POST", `/${id}/cancel`)).status).toBe(202);
    await told.until("complete");
    expect(told.said.filter((each) => each !== "queued")).toEqual(["cancelled", "complete"]);
  });

  await t.step("one that is deleted, and one that is another's, is told as none", async () => {
    const id = await submit();
    const { told } = follow(id);
    await told.until("queued");
    expect((await send("DELETE", `/${id}`)).status).toBe(204);
    await told.until("refused: BACKTEST_NOT_FOUND");
    const missing = follow(crypto.randomUUID());
    await missing.told.until("refused: BACKTEST_NOT_FOUND");
    expect([told.said, missing.told.said].map((said) => said.includes("complete"))).toEqual([false, false]);
  });

  await t.step("who leaves is left alone", async () => {
    const { told, subscription } = follow(await submit());
    await told.until("queued");
    subscription.unsubscribe();
  });
  await proxy.shutdown();
  await (await service).close();
  await drop();
});
