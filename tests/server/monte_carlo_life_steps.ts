/** Monte Carlo simulations as resources: submitted once, followed, listed, and counted to their owner's storage. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import type { TestService } from "../support/service.ts";

const END = /event: end\ndata: .*"status":"completed"/;

/** A repeated Idempotency-Key gets the first record, and another request with it is refused. */
export async function submitTwice(user: TestClient, backtest_id: string): Promise<void> {
  const send = (runs: number) =>
    user.send("POST", "/api/monte-carlo", { monte_carlo: { backtest_id, method: "trades", runs } }, {
      "idempotency-key": "once",
    });
  // At the same time, the second one finds the first in its transaction.
  const [first, same] = await Promise.all([send(10), send(10)]);
  const [again, other] = [await send(10), await send(11)];
  expect([first.status, same.status, again.status]).toEqual([202, 202, 202]);
  const ids = [first, same, again].map((answer) => answer.at("/monte_carlo/id"));
  expect(new Set(ids).size).toBe(1);
  expect(again.headers.get("location")).toBe(`/api/monte-carlo/${ids[0]}`);
  expect([other.status, other.at("/error/code")]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
}

/** Followers by server-sent events and over tRPC see the progress and the end. */
export async function followToEnd(service: TestService, user: TestClient, backtest_id: string): Promise<void> {
  const created = await user.send("POST", "/api/monte-carlo", {
    monte_carlo: { backtest_id, method: "candles", runs: 4000 },
  });
  const id = String(created.at("/monte_carlo/id"));
  const read = async (path: string) =>
    await (await fetch(`${service.url}${path}`, { headers: { cookie: user.cookie, accept: "text/event-stream" } }))
      .text();
  const input = encodeURIComponent(JSON.stringify({ id }));
  const [events, typed] = await Promise.all([
    read(`/api/monte-carlo/${id}/events`),
    read(`/trpc/monteCarlo.onEvent?input=${input}`),
  ]);
  expect(events).toMatch(/event: status\ndata: .*"status":"(queued|running)"/);
  expect(events).toMatch(END);
  const told = typed.split("\n").filter((line) => line.startsWith('data: {"id"'));
  const statuses = told.map((line) => JSON.parse(line.slice("data: ".length)).status);
  expect(["queued", "running"]).toContain(statuses[0]);
  expect(statuses.at(-1)).toBe("completed");
  expect(await read(`/api/monte-carlo/${id}/events`)).toMatch(END);
}

/** A list is whole without a limit, has pages with one, and is filtered by status. */
export async function listAll(user: TestClient): Promise<void> {
  const whole = await user.get("/api/monte-carlo");
  expect(whole.at("/next_cursor")).toBeNull();
  const all = whole.list("/monte_carlos").map(Object);
  const page = await user.get("/api/monte-carlo?limit=2");
  expect([page.list("/monte_carlos").length, typeof page.at("/next_cursor")]).toEqual([2, "string"]);
  for (const status of ["completed", "cancelled", "failed"]) {
    const some = (await user.get(`/api/monte-carlo?status=${status}`)).list("/monte_carlos").map(Object);
    expect(some.length).toBeGreaterThan(0);
    expect(some.map(({ id }) => id)).toEqual(all.filter((each) => each.status === status).map(({ id }) => id));
  }
}

/** The stored bytes of a user, and those of all their backtests. */
export async function readStorage({ databaseUrl }: TestService, user: TestClient): Promise<number> {
  const id = (await user.get("/api/session")).at("/user/id");
  const [row] = await administer(
    databaseUrl,
    `select bytes::float8 as total, (select sum(size_bytes)::float8 from backtests where owner_id = '${id}') as backtests
    from backtest_sizes where owner_id = '${id}'`,
  );
  const { total, backtests } = Object(row);
  expect(backtests ?? 0).toBe(total);
  return total;
}

/** A simulation counts with its result, and gives its bytes back. */
export async function countBytes(service: TestService, user: TestClient, backtest_id: string): Promise<void> {
  const before = await readStorage(service, user);
  const monte_carlo = { backtest_id, method: "returns", runs: 20 };
  const path = (await user.send("POST", "/api/monte-carlo", { monte_carlo })).headers.get("location");
  const ended = await user.poll(`${path}?wait=30`, "/monte_carlo/status");
  expect(ended.at("/monte_carlo/status")).toBe("completed");
  const grown = await readStorage(service, user) - before;
  const bytes = JSON.stringify(ended.at("/monte_carlo/result")).length;
  // 20 paths of 4 figures and 61 points, of 8 bytes each, and their frames.
  const kept = 20 * (4 + 61) * 8;
  expect([grown >= bytes, grown < bytes + kept + 3000]).toEqual([true, true]);
  expect((await user.send("DELETE", String(path))).status).toBe(204);
  expect(await readStorage(service, user)).toBe(before);
}

/** Runs something while a user's results fill their quota. */
export async function whileFull(service: TestService, user: TestClient, act: () => Promise<void>): Promise<void> {
  const id = (await user.get("/api/session")).at("/user/id");
  const add = (bytes: string) =>
    administer(service.databaseUrl, `update backtest_sizes set bytes = bytes + ${bytes} where owner_id = '${id}'`);
  await add("1e12");
  await act();
  await add("-1e12");
}

/** Nothing more is accepted where the quota is full. */
export async function submitFull(service: TestService, user: TestClient, backtest_id: string): Promise<void> {
  await whileFull(service, user, async () => {
    const monte_carlo = { backtest_id, method: "returns", runs: 20 };
    const answer = await user.send("POST", "/api/monte-carlo", { monte_carlo });
    expect([answer.status, answer.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(answer.at("/error/message")).toMatch(
      /^Cannot keep another Monte Carlo simulation: your backtests have \d+ bytes/,
    );
  });
}
