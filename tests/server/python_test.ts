/** Strategies in Python over HTTP, in services with the permissions of the task: registered, inline, in optimizations, switched off. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { createTestDatabase } from "../support/database.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";

await buildInterpreter();
const SOURCE = await Deno.readTextFile(new URL("../../strategies/scripts_python/sma_cross.py", import.meta.url));
const OWN = { fast: 5, slow: 20, direction: "both" };
const PARAMETERS = { timeframe: "1h", ...OWN };
const RUNTIME = { type: "script", language: "python", lookbackCandles: 200, source: SOURCE };

function registration(slug: string, source: string, more: object = {}) {
  return {
    strategy: {
      slug,
      name: slug,
      runtime_type: "script",
      language: "python",
      lookback_candles: 200,
      initial_version: { version: "1.0", runtime_config: { type: "script", source } },
      ...more,
    },
  };
}

async function run(user: TestClient, strategy: string, more: object = {}) {
  const backtest = { ...BACKTEST, strategy, parameters: { ...PARAMETERS, ...more } };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(String(submitted.at("/backtest/id")));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return ended;
}

const DECIDE = "class Own(Strategy):\n    def decide(self, i, candles, account, orders):\n        pass\n";

/** Sources that strain the interpreter at once, and how their registration is refused. */
const HOSTILE: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  "deep nesting": [`x = ${"[".repeat(50_000)}`, /strategy\.py:1:\d+: .*(nested|parenthes)/],
  "a huge literal": [`x = ${"9".repeat(200_000)}`, /strategy\.py:1:\d+: .*4300 digits/],
  "an endless regular expression": [
    'import re\nre.match(r"(a+)+$", "a" * 40 + "b")',
    /within \d+ s.* at |had not ended after/,
  ],
  "a power of integers": ["x = 10\nx ** (x ** 9)", /within \d+ s|had not ended after|MemoryError/],
  "a long text": ["x = 1 << 29\n'a' * x", /MemoryError at .*strategy\.py:2/],
  "endless recursion": ["f = lambda: f()\nf()", /RecursionError: maximum recursion depth exceeded/],
  "an endless generator": ["every = [*(n for n in iter(int, 1))]", /MemoryError|within \d+ s|had not ended after/],
  "an object that comes back when it goes": [
    "class Last:\n    def __del__(self): Last()\nLast()\nraise ValueError('after it')",
    /after it|RecursionError|nested too deeply|within \d+ s|had not ended|MemoryError|has broken its interpreter/,
  ],
  "a megabyte of an error": ["raise ValueError('x' * (1 << 20))", /ValueError: x{200}/],
  "a traceback of long names": [
    `def ${"f".repeat(60_000)}(n): raise ValueError(n) if n == 0 else ${"f".repeat(60_000)}(n - 1)\n${
      "f".repeat(60_000)
    }(50)`,
    /ValueError: 0/,
  ],
};

Deno.test("Python is registered with the parameters that it declares, and trades as the built-in does", async (t) => {
  const database = await createTestDatabase("service");
  const start = (mode: string) =>
    startProcess("serve", {
      DATABASE_URL: database.url,
      BETTER_AUTH_SECRET: "a secret of at least 32 characters",
      PYTHON: mode,
    });
  let service = await start("on");
  let user = service.client();
  await user.signUp();

  await t.step("registered", async () => {
    const created = await user.send("POST", "/api/strategies", registration("py-cross", SOURCE));
    expect([created.status, created.at("/strategy/language")]).toEqual([201, "python"]);
    expect(created.at("/strategy/parameter_schema/properties")).toEqual({
      fast: { type: "integer", default: 10 },
      slow: { type: "integer", default: 30 },
      direction: { type: "string", enum: ["long", "both"], default: "both" },
      take_profit_level: { type: "number", default: 0 },
      stop_loss_level: { type: "number", default: 0 },
    });
    const shown = (await user.get("/api/strategies/py-cross")).at("/strategy/parameter_schema/properties");
    // In the order of the class.
    expect(Object.keys(Object(shown))).toEqual(["fast", "slow", "direction", "take_profit_level", "stop_loss_level"]);
    const [ours, theirs] = [await run(user, "py-cross"), await run(user, "SMA Cross")];
    expect(ours.at("/backtest/result/metrics")).toEqual(theirs.at("/backtest/result/metrics"));
    expect(ours.at("/backtest/result/integrity/lookahead/status")).toBe("passed");
    const refused = await user.send("POST", "/api/backtests", {
      backtest: { ...BACKTEST, strategy: "py-cross", parameters: { ...PARAMETERS, fast: "5" } },
    });
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "INVALID_PARAMETERS"]);
  });

  await t.step("a further version", async () => {
    const version = { version: "1.1", runtime_config: { type: "script", source: `${SOURCE}\n# Another.\n` } };
    expect((await user.send("POST", "/api/strategies/py-cross/versions", { version })).status).toBe(201);
    await run(user, "py-cross");
  });

  await t.step("a default that no column holds is refused", async () => {
    const source = DECIDE.replace("\n", '\n    label: str = "\\0"\n');
    const refused = await user.send("POST", "/api/strategies", registration("py-zero", source));
    expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([
      400,
      "/strategy/parameter_schema/properties/label/default",
    ]);
  });

  await t.step("a version in another language: the catalogue names the newest one's, and both run", async () => {
    const script = "strategy(({ fast, slow, direction }) => ({ decide() {} }));";
    const created = registration("moved", script, { language: "typescript" });
    expect((await user.send("POST", "/api/strategies", created)).status).toBe(201);
    const version = { version: "1.1", runtime_config: { type: "script", language: "python", source: SOURCE } };
    expect((await user.send("POST", "/api/strategies/moved/versions", { version })).status).toBe(201);
    expect((await user.get("/api/strategies/moved")).at("/strategy")).toMatchObject({
      language: "python",
      runtime: { language: "python", version: "1.1" },
    });
    for (const [number, extension] of [["1.0", "ts"], ["1.1", "py"]]) {
      await run(user, "moved", { runtime: { slug: "moved", version: number } });
      const code = await user.get(`/api/strategies/moved/versions/${number}/artifact`);
      expect(code.headers.get("content-disposition")).toContain(`moved-${number}.${extension}`);
    }
  });

  await t.step("each version runs with the defaults of its own class", async () => {
    const buying = (attributes: string) =>
      `class Own(Strategy):\n    ${attributes}\n\n    def decide(self, i, candles, account, orders):\n` +
      "        if account.quantity == 0: orders.buy(size=self.size, time_stop_candles=9)\n";
    await user.send("POST", "/api/strategies", registration("defaults", buying("size: float = 1.5")));
    const push = (attributes: string) => {
      const version = { runtime_config: { type: "script", source: buying(attributes) } };
      return user.send("POST", "/api/strategies/defaults/versions", { version });
    };
    expect((await push("size: float = 0.5\n    fast: int = 3")).at("/version/version")).toBe("1.1");
    const sizes = async (parameters: object) => {
      const backtest = {
        ...BACKTEST,
        initial_balance: 1e6,
        strategy: "defaults",
        parameters: { timeframe: "1h", ...parameters },
      };
      const submitted = await user.send("POST", "/api/backtests", { backtest });
      expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
      const ended = await user.finish(String(submitted.at("/backtest/id")));
      const [trade] = (await user.get(`/api/backtests/${ended.at("/backtest/id")}/trades?limit=1`)).list("/trades");
      return [ended.at("/backtest/parameters/size"), Object(trade).quantity];
    };
    const older = { runtime: { slug: "defaults", version: "1.0" } };
    expect([await sizes({}), await sizes(older), await sizes({ size: 2 })]).toEqual([[0.5, 0.5], [1.5, 1.5], [2, 2]]);
    const shown = await user.get("/api/strategies/defaults");
    expect(shown.at("/strategy/parameter_schema")).toEqual({
      type: "object",
      properties: { size: { type: "number", default: 0.5 }, fast: { type: "integer", default: 3 } },
      additionalProperties: false,
    });
    await user.send("PATCH", "/api/strategies/defaults", { strategy: { default_config: { fast: 5 } } });
    expect([await sizes({}), await sizes(older)]).toEqual([[0.5, 0.5], [1.5, 1.5]]);
    const refuse = async (parameters: object) => {
      const backtest = { ...BACKTEST, strategy: "defaults", parameters: { timeframe: "1h", ...parameters } };
      return (await user.send("POST", "/api/backtests", { backtest })).at("/error/issues/0");
    };
    expect(await refuse({ ...older, fast: 4 })).toMatchObject({ path: "/backtest/parameters/fast" });
    expect(await refuse({ szie: 4 })).toMatchObject({
      path: "/backtest/parameters/szie",
      message: expect.stringContaining("did you mean size?"),
    });
    expect((await push("size: float = 0.5")).at("/error/message")).toMatch(/fast/);
  });

  await t.step("inline", async () => {
    const [ours, theirs] = [await run(user, "mine", { runtime: RUNTIME }), await run(user, "SMA Cross")];
    expect(ours.at("/backtest/result/metrics")).toEqual(theirs.at("/backtest/result/metrics"));
  });

  await t.step("a source that is no Python is refused with its line", async () => {
    const refused = await user.send("POST", "/api/strategies", registration("bad-py", "class A(Strategy)\n  pass"));
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
    expect(refused.at("/error/message")).toBe("Cannot use the script: strategy.py:1:18: SyntaxError: expected ':'");
  });

  await t.step("hostile sources are refused in words, each within its limit", async () => {
    for (const [what, [lines, message]] of Object.entries(HOSTILE)) {
      const refused = await user.send("POST", "/api/strategies", registration("worst-py", `${lines}\n${DECIDE}`));
      expect([what, refused.status, refused.at("/error/code")]).toEqual([what, 400, "INVALID_SCRIPT"]);
      const said = String(refused.at("/error/message"));
      expect(said).toMatch(message);
      expect([what, said.length < 2000, /file:\/\/|\/work|\.ts\b|\p{Cc}/u.test(said)]).toEqual([what, true, false]);
    }
  });

  await t.step("optimized: each trial is as a backtest", async () => {
    const space = { fast: { values: [5, 6, 60] }, slow: { values: [20, 30] } };
    const trialsOf = async (strategy: string) => {
      const id = await submitOptimization(user, {
        strategy,
        parameters: { timeframe: "1h", direction: "both" },
        space,
      });
      expect((await finishOptimization(user, id)).at("/optimization/error")).toBe(null);
      return (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map((trial) => Object(trial).metrics);
    };
    const trials = await trialsOf("py-cross");
    expect([trials, trials.length]).toEqual([await trialsOf("SMA Cross"), 4]);
  });

  const { cookie } = user;
  await service.end("SIGINT");
  service = await start("off");
  user = service.client();
  user.cookie = cookie;
  await t.step("switched off", async () => {
    const refused = await user.send("POST", "/api/strategies", registration("off-cross", SOURCE));
    expect([refused.status, refused.at("/error/code")]).toEqual([400, "SCRIPTS_NOT_ALLOWED"]);
    expect(refused.at("/error/message")).toMatch(/the operator of this service has switched Python off/);
    const backtest = { ...BACKTEST, strategy: "py-cross", parameters: PARAMETERS, end_date: "2024-01-09" };
    const submitted = await user.send("POST", "/api/backtests", { backtest });
    const failed = await user.finish(String(submitted.at("/backtest/id")));
    expect(failed.at("/backtest/error/code")).toBe("SCRIPTS_NOT_ALLOWED");
  });
  await service.end("SIGINT");
  await database.drop();
});
