import { expect } from "@std/expect";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const REMOTE = { type: "remote", language: "python", lookbackCandles: 50, endpoint: "https://signals.example.com/v1" };

function strategy(change: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
  return {
    slug: "my-signals",
    name: "My Signals",
    description: "Buys when it should.",
    runtime_type: "remote",
    language: "python",
    default_frequency: "DAILY",
    min_candles: 20,
    lookback_candles: 10,
    default_config: { takeProfitLevel: 0.1, timeframe: "1d" },
    parameter_schema: {
      type: "object",
      // Not in the order that a database might sort them.
      properties: { takeProfitLevel: { type: "number" }, period: { type: "integer", minimum: 2, default: 14 } },
    },
    is_public: false,
    initial_version: { version: "1.0", runtime_config: REMOTE },
    ...change,
  };
}

const slugOf = (entry: unknown) => String(Object(entry).slug);

Deno.test("users register strategies, and others see what is public", async (t) => {
  const service = await startTestService();
  const owner = await service.user();
  const other = await service.user();

  await t.step("registration answers the entry and the version", async () => {
    const answer = await owner.send("POST", "/api/strategies", { strategy: strategy() });
    expect([answer.status, answer.headers.get("location")]).toEqual([201, "/api/strategies/my-signals"]);
    expect(answer.at("/strategy")).toMatchObject({
      slug: "my-signals",
      source: "registry",
      runtime_type: "remote",
      is_public: false,
      is_owner: true,
      decides_on: "market",
      latest_version: "1.0",
      runtime: {
        type: "remote",
        slug: "my-signals",
        version: "1.0",
        language: "python",
        lookbackCandles: 50,
        endpoint: REMOTE.endpoint,
        timeoutMs: 10_000,
        mode: "batch",
      },
    });
    expect(answer.at("/version")).toMatchObject({ version: "1.0", sha256: null, runtime_config: REMOTE });
    const written = JSON.stringify(strategy().parameter_schema);
    for (
      const { text } of [answer, await owner.get("/api/strategies/my-signals"), await owner.get("/api/strategies")]
    ) {
      expect(text).toContain(`"parameter_schema":${written}`);
    }
  });

  await t.step("a private one does not exist for others; its slug is taken all the same", async () => {
    for (const path of ["/api/strategies/my-signals", "/api/strategies/my-signals/versions"]) {
      const answer = await other.get(path);
      expect([answer.status, answer.at("/error/code")]).toEqual([404, "STRATEGY_NOT_FOUND"]);
    }
    const version = { version: { version: "2.0", runtime_config: REMOTE } };
    expect((await other.send("POST", "/api/strategies/my-signals/versions", version)).status).toBe(404);
    expect((await other.send("DELETE", "/api/strategies/my-signals")).status).toBe(404);
    expect((await other.get("/api/strategies?limit=200")).list("/strategies").map(slugOf)).not.toContain("my-signals");
    const again = await other.send("POST", "/api/strategies", { strategy: strategy() });
    expect([again.status, again.at("/error/code")]).toEqual([409, "SLUG_TAKEN"]);
    const builtin = await other.send("POST", "/api/strategies", { strategy: strategy({ slug: "sma-cross" }) });
    expect([builtin.status, builtin.at("/error/code")]).toEqual([409, "SLUG_TAKEN"]);
  });

  await t.step("once public it is seen by all, its address by its owner alone", async () => {
    const changed = await owner.send("PATCH", "/api/strategies/my-signals", { strategy: { is_public: true } });
    expect(changed.at("/strategy/is_public")).toBe(true);
    const hourly = await owner.send("PATCH", "/api/strategies/my-signals", {
      strategy: { default_config: { timeframe: "60m" } },
    });
    expect([hourly.status, hourly.at("/error/issues/0/path")]).toEqual([400, "/strategy/default_config/timeframe"]);
    const seen = await other.get("/api/strategies/my-signals");
    expect(seen.at("/strategy/is_owner")).toBe(false);
    expect(seen.text).not.toContain("example.com");
    expect((await other.get("/api/strategies/my-signals/versions")).text).not.toContain("example.com");
    expect((await other.get("/api/strategies?search=signals")).list("/strategies").map(slugOf)).toEqual(["my-signals"]);
    expect((await other.get("/api/strategies?source=registry&runtime_type=wasm")).list("/strategies")).toEqual([]);
    for (
      const refused of [
        await other.send("PATCH", "/api/strategies/my-signals", { strategy: { name: "Mine" } }),
        await other.send("DELETE", "/api/strategies/my-signals"),
        await other.send("POST", "/api/strategies/my-signals/versions", {
          version: { version: "2.0", runtime_config: REMOTE },
        }),
        await other.send("PATCH", "/api/strategies/sma-cross", { strategy: { name: "Mine" } }),
      ]
    ) expect([refused.status, refused.at("/error/code")]).toEqual([403, "FORBIDDEN"]);
  });

  await t.step("versions only rise, by number and not by letter, and are listed highest first", async () => {
    const add = (version?: string, config: object = REMOTE) =>
      owner.send("POST", "/api/strategies/my-signals/versions", { version: { version, runtime_config: config } });
    expect((await add("1.9")).status).toBe(201);
    const added = await add(undefined, { ...REMOTE, timeoutMs: 5000, mode: "step" });
    expect([added.status, added.at("/version/version")]).toEqual([201, "1.10"]);
    expect(added.at("/version/runtime_config/timeoutMs")).toBe(5000);
    for (const equal of ["1.10", "1.10.0"]) {
      expect((await add(equal)).at("/error/code")).toBe("VERSION_EXISTS");
    }
    const lower = await add("1.9.9");
    expect([lower.status, lower.at("/error/issues/0/path")]).toEqual([400, "/version/version"]);
    const first = await owner.get("/api/strategies/my-signals/versions?limit=2");
    const rest = await owner.get(`/api/strategies/my-signals/versions?cursor=${first.at("/next_cursor")}`);
    const versions = [...first.list("/versions"), ...rest.list("/versions")].map((one) => Object(one).version);
    expect(versions).toEqual(["1.10", "1.9", "1.0"]);
    const parameters = { runtime: { slug: "my-signals", version: "1.8" } };
    const unknown = await owner.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
    expect(unknown.at("/error/issues")).toEqual([{
      path: "/backtest/parameters/runtime/version",
      message: 'must be a version of my-signals, not "1.8": did you mean 1.9? There are 1.10, 1.9, 1.0',
    }]);
    expect((await owner.get("/api/strategies/my-signals")).at("/strategy/runtime/mode")).toBe("step");
  });

  await t.step("names need not be unique, but a backtest must be able to choose", async () => {
    const twin = strategy({ slug: "their-signals", is_public: true });
    expect((await other.send("POST", "/api/strategies", { strategy: twin })).status).toBe(201);
    const third = await service.user();
    const backtest = {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "My Signals",
      start_date: "2024-01-01",
      end_date: "2024-01-02",
      initial_balance: 100,
      parameters: {},
    };
    const submit = (client: typeof third, change: object = {}) =>
      client.send("POST", "/api/backtests", { backtest: { ...backtest, ...change } });
    const ambiguous = await submit(third);
    expect(ambiguous.at("/error/code")).toBe("AMBIGUOUS_STRATEGY");
    expect(ambiguous.at("/error/message")).toContain("my-signals and their-signals");
    // One's own comes before what others made public.
    expect((await submit(owner)).at("/backtest/strategy_slug")).toBe("my-signals");
    const named = await submit(third, { parameters: { runtime: { slug: "my-signals", version: "1.9" }, period: 3 } });
    expect([named.status, named.at("/backtest/strategy_version")]).toEqual([202, "1.9"]);
    expect(named.at("/backtest/parameters")).toMatchObject({ period: 3, takeProfitLevel: 0.1, timeframe: "1d" });
    expect(named.text).not.toContain("example.com");
    const wrong = await submit(third, { parameters: { runtime: { slug: "my-signals" }, period: 1 } });
    expect([wrong.at("/error/code"), wrong.at("/error/issues/0/path")])
      .toEqual(["INVALID_PARAMETERS", "/backtest/parameters/period"]);
  });

  await t.step("a deleted one is gone, and its slug is free again", async () => {
    expect((await other.send("DELETE", "/api/strategies/their-signals")).status).toBe(204);
    expect((await other.get("/api/strategies/their-signals")).status).toBe(404);
    const again = strategy({ slug: "their-signals" });
    expect((await owner.send("POST", "/api/strategies", { strategy: again })).status).toBe(201);
  });
  await service.close();
});

Deno.test("a strategy that could not run is refused, naming the field", async () => {
  const service = await startTestService();
  const user = await service.user();
  const version = (runtime_config: unknown, more: object = {}) => ({
    initial_version: { version: "1.0", runtime_config, ...more },
  });
  const wasm = { type: "wasm", language: "rust" };
  const artifact = { file_name: "a.wasm", content_base64: "AGFzbQEAAAA=", content_type: "application/wasm" };
  const config = "/strategy/initial_version/runtime_config";
  const cases: readonly (readonly [change: Readonly<Record<string, unknown>>, path: string])[] = [
    [{ slug: "No Good" }, "/strategy/slug"],
    [{ slug: "ab" }, "/strategy/slug"],
    [{ slug: "a--b" }, "/strategy/slug"],
    [{ name: " " }, "/strategy/name"],
    [{ runtime_type: "docker" }, "/strategy/runtime_type"],
    [{ min_candles: 0 }, "/strategy/min_candles"],
    [{ default_frequency: "SOMETIMES" }, "/strategy/default_frequency"],
    [{ owner_id: "someone" }, "/strategy/owner_id"],
    [{ parameter_schema: { type: "array" } }, "/strategy/parameter_schema/type"],
    [{
      parameter_schema: { type: "object", properties: { a: { type: "string", pattern: "(a+)+$" } } },
    }, "/strategy/parameter_schema/properties/a/pattern"],
    [
      { parameter_schema: { type: "object", properties: { execution: {} } } },
      "/strategy/parameter_schema/properties/execution",
    ],
    [
      { parameter_schema: { type: "object", properties: { a: { type: "int" } } } },
      "/strategy/parameter_schema/properties/a/type",
    ],
    [
      { parameter_schema: { type: "object", properties: { a: { type: "integer", default: 0.5 } } } },
      "/strategy/parameter_schema/properties/a/default",
    ],
    [{ default_config: { period: "x" } }, "/strategy/default_config/period"],
    [{ default_config: { timeframe: "9h" } }, "/strategy/default_config/timeframe"],
    [version({ ...REMOTE, endpoint: "ftp://example.com" }), `${config}/endpoint`],
    [version({ ...REMOTE, endpoint: "https://user:word@example.com" }), `${config}/endpoint`],
    [version({ ...REMOTE, timeoutMs: 60_001 }), `${config}/timeoutMs`],
    [version({ type: "remote" }), `${config}/endpoint`],
    [version({ type: "docker" }), `${config}/type`],
    [version(wasm), `${config}/type`],
    [{ runtime_type: "wasm", ...version(wasm) }, config],
    [{ runtime_type: "wasm", ...version({ ...wasm, artifact, moduleUrl: "https://example.com/a.wasm" }) }, config],
    [{ runtime_type: "wasm", ...version({ ...wasm, artifact }, { artifact }) }, config],
    [{
      runtime_type: "wasm",
      ...version({ ...wasm, artifact: { ...artifact, content_base64: "%%%" } }),
    }, `${config}/artifact/content_base64`],
    [{
      runtime_type: "wasm",
      ...version(wasm, { artifact: { ...artifact, content_base64: "%%%" } }),
    }, "/strategy/initial_version/artifact/content_base64"],
    [version(REMOTE, { artifact }), "/strategy/initial_version/artifact"],
    [{ initial_version: { version: "v1", runtime_config: REMOTE } }, "/strategy/initial_version/version"],
  ];
  for (const [change, path] of cases) {
    const answer = await user.send("POST", "/api/strategies", { strategy: strategy(change) });
    const label = JSON.stringify(change);
    expect([label, answer.status]).toEqual([label, 400]);
    const paths = answer.list("/error/issues").map((issue) => Object(issue).path);
    expect([label, paths]).toEqual([label, expect.arrayContaining([path])]);
  }
  const large = { ...artifact, content_base64: btoa("\0".repeat(4 * 1024 * 1024 + 1)) };
  const refused = await user.send("POST", "/api/strategies", {
    strategy: strategy({ runtime_type: "wasm", ...version({ ...wasm, artifact: large }) }),
  });
  expect([refused.status, refused.at("/error/code")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
  expect((await user.get("/api/strategies?source=registry")).list("/strategies")).toEqual([]);
  await service.close();
});

Deno.test("the slug of a deleted strategy stays its owner's where records name it, and is free where none does", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const [owner, other] = [await service.user(), await service.user()];
  const register = (user: TestClient, slug: string) =>
    user.send("POST", "/api/strategies", { strategy: strategy({ slug, is_public: true }) });
  for (const slug of ["was-run", "never-run"]) expect((await register(owner, slug)).status).toBe(201);
  const runtime = { slug: "was-run" };
  const run = await other.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters: { runtime } } });
  await other.send("POST", `/api/backtests/${run.at("/backtest/id")}/cancel`);
  for (const slug of ["was-run", "never-run"]) {
    expect((await owner.send("DELETE", `/api/strategies/${slug}`)).status).toBe(204);
  }
  const refused = await register(other, "was-run");
  expect([refused.status, refused.at("/error/code")]).toEqual([409, "SLUG_TAKEN"]);
  expect((await register(other, "never-run")).status).toBe(201);
  expect((await register(owner, "was-run")).status).toBe(201);
  expect((await register(owner, "was-run")).at("/error/code")).toBe("SLUG_TAKEN");
  // The last of its records being gone, so is what keeps it.
  expect((await other.send("DELETE", `/api/backtests/${run.at("/backtest/id")}`)).status).toBe(204);
  expect((await owner.send("DELETE", "/api/strategies/was-run")).status).toBe(204);
  expect((await register(other, "was-run")).status).toBe(201);
  await service.close();
});
