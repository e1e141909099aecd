/** Strategies that users bring, from registration to trades, over REST. */
import { expect } from "@std/expect";
import { freePort } from "../support/free_port.ts";
import { startTestService } from "../support/service.ts";
import { requirePlots, requirePlotsOfFailure } from "./plot_steps.ts";
import { compileWat, strategyWat } from "../workers/sandbox/wasm/modules.ts";
import { checkWarmUps, EXAMPLES, PARAMETERS, RANGE, readExample, registration, runToTrades } from "./foreign_code.ts";

/** A script has a console of its own. */
const LOG = "console.log";

Deno.test("strategies of users run sandboxed and give the built-in's trades", async (t) => {
  const module = await readExample("c/sma_cross.wasm");
  const files = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(new Uint8Array(module)),
  );
  const files_host = `127.0.0.1:${files.addr.port}`;
  const endpointPort = freePort();
  const service = await startTestService("PostgreSQL", {
    REMOTE_ENDPOINT_ALLOW: `${files_host},127.0.0.1:${endpointPort}`,
  });
  const user = await service.user();
  const expected = await runToTrades(user, "SMA Cross");
  expect(expected.length).toBeGreaterThan(20);
  const artifact = { file_name: "sma.wasm", content_base64: module.toBase64(), content_type: "application/wasm" };

  await t.step("a WASM artifact, and its bytes come back to their owner alone", async () => {
    const strategy = { ...registration("c-cross", { type: "wasm", artifact }), is_public: true };
    const created = await user.send("POST", "/api/strategies", { strategy });
    expect([created.status, created.at("/version/size_bytes")]).toEqual([201, module.byteLength]);
    expect(created.text).not.toContain("content_base64");
    expect(await runToTrades(user, "c-cross")).toEqual(expected);
    const path = "/api/strategies/c-cross/versions/1.0/artifact";
    const response = await fetch(service.url + path, { headers: { cookie: user.cookie } });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(module);
    expect(response.headers.get("cache-control")).toBe("private, no-cache");
    const input = encodeURIComponent(JSON.stringify({ slug: "c-cross", version: "1.0" }));
    expect((await user.get(`/trpc/strategies.artifact?input=${input}`)).at("/result/data")).toEqual({
      ...{ fileName: "c-cross-1.0.wasm", sha256: created.at("/version/sha256"), data: module.toBase64() },
    });
    const again = await user.get(path, { "if-none-match": response.headers.get("etag")! });
    expect([again.status, again.text]).toEqual([304, ""]);
    const other = await service.user();
    const refused = await other.get(path);
    expect([refused.status, refused.at("/error/message")]).toEqual([
      403,
      "Cannot download c-cross: its owner keeps its code hidden",
    ]);
    expect(await runToTrades(other, "c-cross")).toEqual(expected);
  });

  await t.step("a hosted module, kept as it was when it was registered", async () => {
    const moduleUrl = `http://${files_host}/sma.wasm`;
    const created = await user.send("POST", "/api/strategies", {
      strategy: registration("hosted-cross", { type: "wasm", moduleUrl }),
    });
    expect(created.status).toBe(201);
    expect(created.at("/version/sha256")).toBe(
      (await user.get("/api/strategies/c-cross/versions")).at("/versions/0/sha256"),
    );
    expect(await runToTrades(user, "hosted-cross")).toEqual(expected);
  });

  await t.step("a module that is given with the backtest", async () => {
    expect(await runToTrades(user, "unregistered", { runtime: { type: "wasm", artifact, lookbackCandles: 200 } }))
      .toEqual(expected);
  });

  await t.step("the lines that a module logs are in the log of its run", async () => {
    const wat = await Deno.readTextFile(new URL("wat/buy_the_rise.wat", EXAMPLES));
    const runtime = { type: "wasm", artifact: { content_base64: compileWat(wat).toBase64() } };
    const backtest = { ...RANGE, strategy: "rise", parameters: { timeframe: "1d", runtime } };
    const id = (await user.send("POST", "/api/backtests", { backtest })).at("/backtest/id");
    expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
    expect((await user.get(`/api/backtests/${id}/log`)).at("/log")).toEqual(["ready"]);
  });

  await t.step("a record's parameters make the same run again, and only its owner may use its module", async () => {
    const runtime = { type: "wasm", artifact, lookbackCandles: 200 };
    const backtest = { ...RANGE, strategy: "unregistered", parameters: { timeframe: "1h", runtime } };
    const first = await user.send("POST", "/api/backtests", { backtest });
    const again = { ...backtest, parameters: first.at("/backtest/parameters") };
    const second = await user.finish(
      (await user.send("POST", "/api/backtests", { backtest: again })).at("/backtest/id"),
    );
    const { result: { run_key } } = JSON.parse((await user.finish(first.at("/backtest/id"))).text).backtest;
    expect([second.at("/backtest/status"), second.at("/backtest/result/run_key")]).toEqual(["completed", run_key]);
    const refused = await (await service.user()).send("POST", "/api/backtests", { backtest: again });
    expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/backtest/parameters/runtime/sha256"]);
  });

  await t.step("the hash of a script is of use to its owner alone, whatever they call it", async () => {
    const source = "strategy(() => ({ decide(i, candles, account, orders) { orders.buy(); } }));";
    const backtest = {
      ...RANGE,
      strategy: "mine",
      parameters: { timeframe: "1h", runtime: { type: "script", source } },
    };
    const first = await user.send("POST", "/api/backtests", { backtest });
    expect((await user.finish(first.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
    const stored = first.at("/backtest/parameters/runtime");
    expect(stored).toMatchObject({ type: "script", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    const other = await service.user();
    for (const runtime of [stored, { ...Object(stored), language: "python" }, { ...Object(stored), type: "wasm" }]) {
      const again = { ...backtest, parameters: { timeframe: "1h", runtime } };
      const refused = await other.send("POST", "/api/backtests", { backtest: again });
      expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([
        400,
        "/backtest/parameters/runtime/sha256",
      ]);
    }
    const own = await user.send("POST", "/api/backtests", {
      backtest: { ...backtest, parameters: { timeframe: "1h", runtime: stored } },
    });
    expect(own.status).toBe(202);
  });

  await t.step("a module that is given with the backtest is tried with the backtest's parameters", async () => {
    // It will not run without any: {} has two bytes.
    const picky = strategyWat({ init: "(i32.le_u (i32.load offset=12 (local.get $frame)) (i32.const 2))" });
    const runtime = { type: "wasm", artifact: { content_base64: compileWat(picky).toBase64() } };
    expect(await runToTrades(user, "picky", { runtime })).toEqual([]);
    const backtest = { ...RANGE, strategy: "picky", parameters: { timeframe: "1h", runtime } };
    const refused = await user.send("POST", "/api/backtests", { backtest });
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "INVALID_MODULE"]);
  });

  await t.step("a script, registered or given with the backtest, whose source comes back to its owner", async () => {
    const source = await Deno.readTextFile(new URL("../scripts/sma_cross.ts", EXAMPLES));
    const script = { type: "script", source, lookbackCandles: 200 };
    const created = await user.send("POST", "/api/strategies", { strategy: registration("script-cross", script) });
    expect([created.status, created.at("/version/size_bytes")]).toEqual([201, new TextEncoder().encode(source).length]);
    expect(created.text).not.toContain("crossesAbove");
    expect(await runToTrades(user, "script-cross")).toEqual(expected);
    const artifact = await user.get("/api/strategies/script-cross/versions/1.0/artifact");
    expect([artifact.status, artifact.text]).toEqual([200, source]);
    expect(await runToTrades(user, "inline", { runtime: script })).toEqual(await runToTrades(user, "script-cross"));
    const [latest] = (await user.get("/api/backtests?limit=2")).list("/backtests").slice(1);
    const shown = Object(Object(latest).parameters).runtime;
    expect(shown.source).toBeUndefined();
    expect(await runToTrades(user, "again", { runtime: shown })).toEqual(expected);
    const types = await user.get("/strategy.d.ts");
    expect([types.status, types.text.includes("declare function sma(")]).toEqual([200, true]);
  });

  await t.step("the warm-up that code asks for is loaded before the range, and a short one is a note", async () => {
    await checkWarmUps(user);
  });

  await t.step("a script with a mistake is refused with its line, and one that fails in a run says where", async () => {
    const broken = { type: "script", source: "strategy(() => ({\n  decide() { let a = ; },\n}));" };
    const refused = await user.send("POST", "/api/strategies", { strategy: registration("broken-script", broken) });
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
    expect(refused.at("/error/message")).toMatch(/strategy\.ts:2:22: Expression expected/);
    expect(refused.at("/error/details/0/path") ?? refused.at("/error/issues/0/path")).toBe(
      "/strategy/initial_version/runtime_config/source",
    );
    // The sample has more candles than the 512 of the check.
    const source = `strategy(() => ({ decide(i) { if (i === 3) ${LOG}("three"); if (i > 600) fail(); } }));
function fail() { null.x; }`;
    const late = { type: "script", source };
    const backtest = { ...RANGE, strategy: "late", parameters: { timeframe: "1h", runtime: late } };
    const submitted = await user.send("POST", "/api/backtests", { backtest });
    const failed = await user.finish(submitted.at("/backtest/id"));
    expect(failed.at("/backtest/error/code")).toBe("STRATEGY_FAILED");
    expect(failed.at("/backtest/error/message")).toMatch(
      /candle 601 .*Cannot read properties of null.*strategy\.ts:2:/,
    );
    const path = `/api/backtests/${failed.at("/backtest/id")}/log`;
    expect((await user.get(path)).at("/log")).toEqual([
      "three",
      expect.stringMatching(/^ ?at fail \(strategy\.ts:2:\d+\)$/),
      expect.stringMatching(/^ ?at .*decide \(strategy\.ts:1:\d+\)$/),
    ]);
    expect((await (await service.user()).get(path)).status).toBe(404);
  });

  await t.step("a script's plots, for its owner alone, in every format", async () => {
    await requirePlots(user, await service.user());
    await requirePlotsOfFailure(user);
  });

  await t.step("a remote endpoint, registered or given with the backtest, in both modes", async () => {
    const example = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-config",
        "--allow-net=127.0.0.1",
        new URL("typescript/sma_cross.ts", EXAMPLES).pathname,
        `--port=${endpointPort}`,
      ],
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const reader = example.stdout.getReader();
    // It says where it listens.
    await reader.read();
    const endpoint = `http://127.0.0.1:${endpointPort}/`;
    const created = await user.send("POST", "/api/strategies", {
      strategy: registration("ts-cross", { type: "remote", endpoint, lookbackCandles: 200 }),
    });
    expect(created.status).toBe(201);
    expect(await runToTrades(user, "ts-cross")).toEqual(expected);
    const step = { type: "remote", endpoint, lookbackCandles: 200, mode: "step" };
    expect(await runToTrades(user, "stepwise", { runtime: step })).toEqual(expected);
    example.kill("SIGKILL");
    await example.status;
    await reader.cancel();
  });

  await t.step("only the owner of an endpoint reads its address and its errors", async () => {
    const endpoint = `http://${files_host}/`;
    const strategy = { ...registration("no-decisions", { type: "remote", endpoint }), is_public: true };
    expect((await user.send("POST", "/api/strategies", { strategy })).status).toBe(201);
    const other = await service.user();
    const failed = await Promise.all([user, other].map(async (client) => {
      const backtest = { ...RANGE, strategy: "no-decisions", parameters: PARAMETERS };
      const submitted = await client.send("POST", "/api/backtests", { backtest });
      return await client.finish(submitted.at("/backtest/id"));
    }));
    const [toOwner, toOther] = failed.map((answer) => answer.at("/backtest/error"));
    const message = expect.stringMatching(`^Cannot use the answer of ${files_host} for candle `);
    expect(toOwner).toEqual({ code: "INVALID_SIGNAL", message });
    const veiled = expect.stringMatching(/^Cannot use the answer of the strategy's endpoint for candle /);
    expect(toOther).toEqual({ code: "INVALID_SIGNAL", message: veiled });
    expect(failed[1]?.text).not.toContain(files_host);
  });

  await t.step("a module that could not run is refused in words, and nothing is stored", async () => {
    const bytes = (data: Uint8Array) => ({ type: "wasm", artifact: { ...artifact, content_base64: data.toBase64() } });
    for (
      const [runtime, code] of [
        [bytes(new Uint8Array(0)), "INVALID_MODULE"],
        [bytes(module.subarray(0, 100)), "INVALID_MODULE"],
        [bytes(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0])), "INVALID_MODULE"],
        [{ type: "wasm", moduleUrl: "http://127.0.0.1:9/none.wasm" }, "ENDPOINT_NOT_ALLOWED"],
      ] as const
    ) {
      const answer = await user.send("POST", "/api/strategies", { strategy: registration("broken", runtime) });
      expect([answer.status, answer.at("/error/code")]).toEqual([400, code]);
      expect(answer.at("/error/message")).toMatch(/^Cannot (use the module|call the endpoint).*: \S/);
      const key = "moduleUrl" in runtime ? "moduleUrl" : "artifact/content_base64";
      expect(answer.at("/error/issues/0/path")).toBe(`/strategy/initial_version/runtime_config/${key}`);
    }
    expect((await user.get("/api/strategies/broken")).status).toBe(404);
  });

  await t.step("an address that is not public is refused at once, wherever it is given", async () => {
    const add = { type: "remote", endpoint: "https://signals.example.com/v1" };
    const registered = await user.send("POST", "/api/strategies", { strategy: registration("public-one", add) });
    expect(registered.status).toBe(201);
    const addresses = [
      "http://169.254.169.254/latest/meta-data",
      "http://127.0.0.1/",
      "https://10.1.2.3/",
      "http://[::1]/",
    ];
    // The first two are 127.0.0.1 too, as URLs read them.
    for (const endpoint of ["http://0x7f.1/", "http://2130706433/", "http://localhost:9000/", ...addresses]) {
      const runtime = { type: "remote", endpoint };
      const backtest = { ...RANGE, strategy: "inside", parameters: { ...PARAMETERS, runtime } };
      const [submitted, created, added] = [
        await user.send("POST", "/api/backtests", { backtest }),
        await user.send("POST", "/api/strategies", { strategy: registration("inside", runtime) }),
        await user.send("POST", "/api/strategies/public-one/versions", {
          version: { version: "2", runtime_config: runtime },
        }),
      ];
      for (
        const [refused, path] of [
          [submitted, "/backtest/parameters/runtime/endpoint"],
          [created, "/strategy/initial_version/runtime_config/endpoint"],
          [added, "/version/runtime_config/endpoint"],
        ] as const
      ) {
        expect([endpoint, refused.status, refused.at("/error/code"), refused.at("/error/issues/0/path")])
          .toEqual([endpoint, 400, "ENDPOINT_NOT_ALLOWED", path]);
      }
    }
  });
  await service.close();
  await files.shutdown();
});

Deno.test("without a worker nobody can judge a module, and nothing is stored", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const content_base64 = (await readExample("rust/sma_cross.wasm")).toBase64();
  const strategy = registration("rust-cross", { type: "wasm", artifact: { content_base64 } });
  const answer = await user.send("POST", "/api/strategies", { strategy });
  expect([answer.status, answer.at("/error/code")]).toEqual([503, "UNAVAILABLE"]);
  expect(answer.headers.get("retry-after")).toBe("15");
  expect((await user.get("/api/strategies/rust-cross")).status).toBe(404);
  await service.close();
});
