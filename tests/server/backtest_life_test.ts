import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { DATABASES } from "../support/database.ts";
import { startTestService } from "../support/service.ts";
import { readUntil } from "../support/until.ts";

const BACKTEST = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-03-01",
  initial_balance: 1000,
  parameters: { timeframe: "1h", fast: 10, slow: 30 },
};

async function submit(user: TestClient, change: object = {}): Promise<string> {
  const answer = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, ...change } });
  expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
  return String(answer.at("/backtest/id"));
}

/** The events of a stream until it ends: `event` and the record's status. */
async function readEvents(
  url: string,
  headers: Record<string, string>,
): Promise<{ event: string; id: string; status: unknown }[]> {
  const response = await fetch(url, { headers });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  // nginx would hold the events back.
  expect(response.headers.get("x-accel-buffering")).toBe("no");
  return (await response.text()).split("\n\n").filter((block) => block.startsWith("id:")).map((block) => {
    const [id, event, data] = block.split("\n").map((line) => line.slice(line.indexOf(" ") + 1));
    return { id: id ?? "", event: event ?? "", status: JSON.parse(data ?? "{}").backtest.status };
  });
}

for (const kind of DATABASES) {
  Deno.test(`a backtest is followed, cancelled and deleted (${kind})`, async (t) => {
    // It answers nothing, so that a run of it lasts as long as it may.
    const over = Promise.withResolvers<void>();
    const hanging = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
      await over.promise;
      return new Response();
    });
    const host = `127.0.0.1:${hanging.addr.port}`;
    const service = await startTestService(kind, { REMOTE_ENDPOINT_ALLOW: host });
    const user = await service.user();
    const hangs = {
      ...BACKTEST.parameters,
      runtime: { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000 },
    };

    await t.step("waiting answers as soon as it has ended", async () => {
      const id = await submit(user);
      const answer = await user.get(`/api/backtests/${id}?wait=30`);
      expect(answer.at("/backtest/status")).toBe("completed");
      expect((await user.get(`/api/backtests/${id}?wait=31`)).status).toBe(400);
    });

    await t.step("every order is listed with its fate, page by page", async () => {
      const id = await submit(user);
      await user.finish(id);
      const trades = (await user.get(`/api/backtests/${id}/trades?limit=200`)).list("/trades");
      const first = await user.get(`/api/backtests/${id}/orders?limit=3`);
      const rest = await user.get(`/api/backtests/${id}/orders?limit=200&cursor=${first.at("/next_cursor")}`);
      const orders = [...first.list("/orders"), ...rest.list("/orders")].map(Object);
      expect(orders.map((order) => order.number)).toEqual(orders.map((_, i) => i + 1));
      expect(orders.length).toBeGreaterThanOrEqual(trades.length);
      expect(orders[0]).toMatchObject({ type: "market", status: "filled", reason: null, limit_price: null });
      expect(orders[0].price).toBe(Object(trades[0]).entry_price);
      expect(orders[0].fill_time).toBe(Object(trades[0]).entry_time);
      expect(Date.parse(orders[0].placed_time)).toBe(Date.parse(orders[0].fill_time) - 3_600_000);
      const other = await service.user();
      expect((await other.get(`/api/backtests/${id}/orders`)).status).toBe(404);

      // The console asks for those from a bar on: from an order's own time, from just after it, from the range's ends.
      const times = orders.map((order) => Date.parse(order.placed_time));
      const froms = [0, ...times.flatMap((time) => [time, time + 1])];
      const page = await user.get(`/api/backtests/${id}/orders?limit=1`);
      const find = async (more: object) => {
        const input = encodeURIComponent(JSON.stringify({ id, limit: 1, ...more }));
        return Object((await user.get(`/trpc/backtests.orders?input=${input}`)).list("/result/data/orders")[0]);
      };
      // A place behind the first order, and a time: the later one counts.
      const cursor = page.at("/next_cursor");
      expect((await find({ placed_from: 0, cursor })).number).toBe(orders[1].number);
      expect((await find({ placed_from: times[2], cursor })).placed_time).toBe(orders[2].placed_time);
      for (const from of froms) {
        const found = await find({ placed_from: from });
        expect([from, found.number]).toEqual([from, orders[times.findIndex((time) => time >= from)]?.number]);
      }
    });

    await t.step("events tell each status and end with the record", async () => {
      const id = await submit(user);
      const url = `${service.url}/api/backtests/${id}/events`;
      const events = await readEvents(url, { cookie: user.cookie });
      expect(events.at(-1)).toMatchObject({ event: "end", status: "completed" });
      const last = events.at(-1)?.id ?? "";
      // A client that has seen the end is only told that there is no more.
      expect(await readEvents(url, { cookie: user.cookie, "last-event-id": last })).toEqual([]);
      expect((await (await service.user()).get(`/api/backtests/${id}/events`)).status).toBe(404);
    });

    await t.step("a running one stops when it is cancelled, and leaves no trades", async () => {
      const id = await submit(user, { parameters: hangs });
      const stream = await fetch(`${service.url}/api/backtests/${id}/events`, { headers: { cookie: user.cookie } });
      const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
      await readUntil(reader, /"status":"running"/);
      const begun = performance.now();
      const answer = await user.send("POST", `/api/backtests/${id}/cancel`);
      expect([answer.status, answer.at("/backtest/status")]).toEqual([202, "cancelled"]);
      await readUntil(reader, /event: end/);
      await reader.cancel();
      expect((await user.get(`/api/backtests/${id}/trades`)).list("/trades")).toEqual([]);
      const again = await user.send("POST", `/api/backtests/${id}/cancel`);
      expect([again.status, again.at("/error/code")]).toEqual([409, "NOT_CANCELLABLE"]);
      // The one worker is free again, long before the endpoint's time is over.
      expect((await user.finish(await submit(user))).at("/backtest/status")).toBe("completed");
      expect(performance.now() - begun).toBeLessThan(hangs.runtime.timeoutMs);
    });

    await t.step("a deleted backtest is gone, running or not", async () => {
      for (const parameters of [hangs, BACKTEST.parameters]) {
        const id = await submit(user, { parameters });
        if (parameters === BACKTEST.parameters) await user.finish(id);
        expect((await (await service.user()).send("DELETE", `/api/backtests/${id}`)).status).toBe(404);
        expect((await user.send("DELETE", `/api/backtests/${id}`)).status).toBe(204);
        expect((await user.get(`/api/backtests/${id}`)).status).toBe(404);
        expect((await user.get(`/api/backtests/${id}/orders`)).status).toBe(404);
      }
    });

    await t.step("a stream does not keep the service from closing", async () => {
      const id = await submit(user, { parameters: hangs });
      const stream = await fetch(`${service.url}/api/backtests/${id}/events`, { headers: { cookie: user.cookie } });
      const ended = stream.text();
      await service.close();
      expect(await ended).toContain('"status":"');
    });
    over.resolve();
    await hanging.shutdown();
  });
}
