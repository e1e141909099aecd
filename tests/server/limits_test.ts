import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { startTestService } from "../support/service.ts";

const MODULE = new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url);

function backtest(more: Readonly<Record<string, unknown>> = {}) {
  return {
    backtest: {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "SMA Cross",
      start_date: "2024-01-01",
      end_date: "2025-01-01",
      initial_balance: 10_000,
      parameters: { timeframe: "1m", fast: 24, slow: 96 },
      ...more,
    },
  };
}

const submit = (client: TestClient) => client.send("POST", "/api/backtests", backtest());

Deno.test("a user who has many backtests waiting does not hold up another", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "1" });
  const [many, one] = [await service.user(), await service.user()];
  const queued = await Promise.all(Array.from({ length: 100 }, () => submit(many)));
  expect(new Set(queued.map(({ status }) => status))).toEqual(new Set([202]));
  const accepted = await submit(one);
  const ended = await one.finish(accepted.at("/backtest/id"));
  expect(ended.at("/backtest/status")).toBe("completed");
  const created = Date.parse(String(ended.at("/backtest/created_at")));
  const started = Date.parse(String(ended.at("/backtest/started_at")));
  const others = (await many.get("/api/backtests?limit=200")).list("/backtests").map((entry) =>
    Object(entry).started_at
  );
  const overtook = others.filter((time) => time !== null && Date.parse(time) > created && Date.parse(time) < started);
  // One of the same turn, and what the worker was just about to take.
  expect(overtook.length).toBeLessThanOrEqual(2);
  expect(others.filter((time) => time === null).length).toBeGreaterThan(10);
  await service.close();
});

Deno.test("as many backtests as a user may have are accepted, and one more when one has ended", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_BACKTESTS_MAX: "5" });
  const [ann, bob] = [await service.user(), await service.user()];
  const answers = await Promise.all(Array.from({ length: 12 }, () => submit(ann)));
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
  for (const refused of answers.filter(({ status }) => status !== 202)) {
    expect([refused.status, refused.at("/error/code"), refused.headers.get("retry-after")])
      .toEqual([429, "QUOTA_EXCEEDED", "10"]);
  }
  // A refusal leaves nothing behind and does not concern other users.
  const kept = (await ann.get("/api/backtests")).list("/backtests");
  expect(kept).toHaveLength(5);
  expect((await submit(bob)).status).toBe(202);
  const cancelled = await ann.send("POST", `/api/backtests/${Object(kept[0]).id}/cancel`);
  expect(cancelled.status).toBe(202);
  expect([(await submit(ann)).status, (await submit(ann)).status]).toEqual([202, 429]);
  await service.close();
});

Deno.test("a module that comes with a backtest is kept with the record, and is not where none is made", async () => {
  const answer = Promise.withResolvers<Response>();
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => answer.promise);
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { USER_BACKTESTS_MAX: "1", REMOTE_ENDPOINT_ALLOW: host });
  const ann = await service.user();
  const run = (runtime: Readonly<Record<string, unknown>>) =>
    ann.send("POST", "/api/backtests", backtest({ strategy: "mine", parameters: { timeframe: "1d", runtime } }));
  const content_base64 = (await Deno.readFile(MODULE)).toBase64();
  const bring = () => run({ type: "wasm", artifact: { content_base64 } });
  const countModules = async () => await administer(service.databaseUrl, "select count(*)::integer from modules");
  // As long as the endpoint keeps it waiting there is no room for another.
  const waiting = await run({ type: "remote", endpoint: `http://${host}/` });
  expect(waiting.status).toBe(202);
  const refused = await bring();
  expect([refused.status, refused.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
  expect(await countModules()).toEqual([{ count: 0 }]);
  await ann.send("POST", `/api/backtests/${waiting.at("/backtest/id")}/cancel`);
  expect((await bring()).status).toBe(202);
  expect(await countModules()).toEqual([{ count: 1 }]);
  await service.close();
  answer.resolve(new Response());
  await endpoint.shutdown();
});

Deno.test("modules that come with backtests have a user's room, too, as long as their records are kept", async () => {
  const first = await Deno.readFile(MODULE);
  // The same module with an empty section of its own, named "".
  const second = new Uint8Array([...first, 0, 1, 0]);
  const service = await startTestService("PostgreSQL", { USER_REGISTRY_BYTES_MAX: String(first.length + 10) });
  const ann = await service.user();
  const bring = (module: Uint8Array) => {
    const runtime = { type: "wasm", artifact: { content_base64: module.toBase64() } };
    return ann.send("POST", "/api/backtests", backtest({ strategy: "mine", parameters: { timeframe: "1d", runtime } }));
  };
  const kept = [await bring(first), await bring(first)];
  expect(kept.map(({ status }) => status)).toEqual([202, 202]);
  const refused = await bring(second);
  expect([refused.status, refused.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
  expect(refused.at("/error/message")).toContain(`would have ${first.length + second.length} bytes`);
  const strategy = { slug: "mine", name: "mine", runtime_type: "wasm", language: "c" };
  const register = (module: Uint8Array) => {
    const runtime_config = { type: "wasm", artifact: { content_base64: module.toBase64() } };
    const body = { strategy: { ...strategy, initial_version: { version: "1", runtime_config } } };
    return ann.send("POST", "/api/strategies", body);
  };
  expect((await register(second)).status).toBe(429);
  expect(await administer(service.databaseUrl, "select count(*)::integer from modules")).toEqual([{ count: 1 }]);
  for (const each of kept) await ann.send("DELETE", `/api/backtests/${each.at("/backtest/id")}`);
  expect((await bring(second)).status).toBe(202);
  // A registered module is counted once, whoever's records need it.
  expect((await register(second)).status).toBe(201);
  expect((await bring(second)).status).toBe(202);
  expect((await bring(first)).status).toBe(429);
  await service.close();
});

Deno.test("a user's registry has a size", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_VERSIONS_MAX: "2" });
  const ann = await service.user();
  const runtime_config = { type: "remote", language: "any", endpoint: "https://signals.example.com/v1" };
  const strategy = (slug: string) => ({
    strategy: {
      slug,
      name: slug,
      description: "Buys when it should.",
      runtime_type: "remote",
      language: "any",
      initial_version: { version: "1", runtime_config },
    },
  });
  const add = (slug: string, version: string) =>
    ann.send("POST", `/api/strategies/${slug}/versions`, { version: { version, runtime_config } });
  expect((await ann.send("POST", "/api/strategies", strategy("first"))).status).toBe(201);
  expect((await add("first", "2")).status).toBe(201);
  for (const refused of [await add("first", "3"), await ann.send("POST", "/api/strategies", strategy("second"))]) {
    expect([refused.status, refused.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
    expect(refused.at("/error/message")).toContain("your strategies have 2, and may have 2");
  }
  expect((await ann.send("DELETE", "/api/strategies/first")).status).toBe(204);
  expect((await ann.send("POST", "/api/strategies", strategy("second"))).status).toBe(201);
  await service.close();
});

Deno.test("so many modules of one user may wait for a verdict, and another's waits for none of them", async () => {
  const answer = Promise.withResolvers<void>();
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async () => {
    await answer.promise;
    return new Response(null, { status: 404 });
  });
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const ann = await service.user();
  const register = (n: number) => {
    const runtime_config = { type: "wasm", moduleUrl: `http://${host}/${n}` };
    const strategy = { slug: `mine-${n}`, name: "mine", runtime_type: "wasm", language: "any" };
    const body = { strategy: { ...strategy, initial_version: { version: "1", runtime_config } } };
    return ann.send("POST", "/api/strategies", body);
  };
  const tenRefused = Promise.withResolvers<void>();
  let refusals = 0;
  const asked = Array.from({ length: 60 }, async (_, n) => {
    const said = await register(n);
    if (said.status === 429 && ++refusals === 10) tenRefused.resolve();
    return said;
  });
  // Refused submissions do not wait for the endpoint, as all others do.
  await Promise.race([tenRefused.promise, Promise.all(asked)]);
  const refused = await Promise.any(asked);
  expect([refused.status, refused.at("/error/code"), refused.headers.get("retry-after")])
    .toEqual([429, "QUOTA_EXCEEDED", "5"]);
  answer.resolve();
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  // Of the others a slow machine may have no verdict in time.
  expect((await register(60)).status).not.toBe(429);
  await service.close();
  await endpoint.shutdown();
});

Deno.test("a range of more candles than a run may have is refused when it is submitted, by the field", async () => {
  // January has 744 hours, February 2024 has 696.
  const service = await startTestService("PostgreSQL", { RUN_CANDLES_MAX: "744" });
  const ann = await service.user();
  const run = (end_date: string, timeframe: string) =>
    ann.send("POST", "/api/backtests", backtest({ end_date, parameters: { timeframe } }));
  const fits = await run("2024-02-01", "1h");
  expect(fits.status).toBe(202);
  const refused = await run("2024-03-01", "1h");
  expect([refused.status, refused.at("/error/code")]).toEqual([400, "RANGE_TOO_LARGE"]);
  expect(refused.at("/error/issues")).toEqual([{
    path: "/backtest/end_date",
    message:
      "must be at most 744 candles after start_date, not 1440 (1h): shorten the range or choose a coarser timeframe",
  }]);
  expect((await run("2024-03-01", "1d")).status).toBe(202);
  expect((await ann.finish(fits.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  await service.close();
});

Deno.test("a user who keeps too much gets no more until something is deleted", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "1", USER_RESULT_BYTES_MAX: "40000" });
  const [ann, bob] = [await service.user(), await service.user()];
  // A year of minutes is more than that by itself.
  const kept = (await submit(ann)).at("/backtest/id");
  expect((await ann.finish(kept)).at("/backtest/status")).toBe("completed");
  const refused = await submit(ann);
  expect([refused.status, refused.at("/error/code"), refused.headers.get("retry-after")])
    .toEqual([429, "QUOTA_EXCEEDED", "3600"]);
  expect(refused.at("/error/message")).toMatch(/^Cannot keep another backtest: .* may have 40000; delete backtests/);
  expect((await submit(bob)).status).toBe(202);
  expect((await ann.send("DELETE", `/api/backtests/${kept}`)).status).toBe(204);
  const again = await submit(ann);
  expect((await ann.finish(again.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  await service.close();
});

Deno.test("the lines that a script logs count against the storage quota", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "1", USER_RESULT_BYTES_MAX: "300000" });
  const askAfter = async (lines: number) => {
    const user = await service.user();
    const source = `const { log } = console;
      strategy(() => ({ decide(i) { if (i < ${lines}) log("x".repeat(1000)); } }));`;
    const runtime = { type: "script", source };
    const ran = await user.send(
      "POST",
      "/api/backtests",
      backtest({ strategy: "mine", parameters: { timeframe: "1h", runtime } }),
    );
    expect((await user.finish(ran.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
    return (await submit(user)).status;
  };
  expect([await askAfter(1), await askAfter(400)]).toEqual([202, 429]);
  await service.close();
});

Deno.test("submissions count against the storage quota even if they never run", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_RESULT_BYTES_MAX: "15000" });
  const ann = await service.user();
  const runtime = { type: "remote", endpoint: "https://signals.example.com/v1" };
  const large = backtest({ strategy: "mine", parameters: { runtime, note: "x".repeat(15_000) } });
  const first = await ann.send("POST", "/api/backtests", large);
  expect(first.status).toBe(202);
  expect((await ann.send("POST", `/api/backtests/${first.at("/backtest/id")}/cancel`)).status).toBe(202);
  expect((await submit(ann)).at("/error/code")).toBe("QUOTA_EXCEEDED");
  await service.close();
});
