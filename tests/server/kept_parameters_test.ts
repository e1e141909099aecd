/** Parameters of strategies that were registered without a parameter_schema, over HTTP: each version has those that its own code reads. */
import { expect } from "@std/expect";
import type { Answer, TestClient } from "../support/client.ts";
import { administer } from "../support/database.ts";
import { OPTIMIZATION } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { RANGE, registration } from "./foreign_code.ts";

const DECIDES = "{ decide(i, candles, account, orders) { if (i === 3) orders.buy(); } }";
/** Scripts that read fast and slow alone, and what their text says of these. */
const CERTAIN: Readonly<Record<string, string>> = {
  "a pattern": `strategy(({ fast = 10, slow = "}" }: { fast?: number; slow?: unknown }) => (${DECIDES}));`,
  "a function": `function make({ fast = 10, slow: { of } = { of: [1] } }) { return ${DECIDES}; }\nstrategy(make);`,
  "members": `strategy((given) => { const { fast = 10 } = given; return { slow: given.slow, ...${DECIDES} }; });`,
  "an object with computed keys": `strategy(({ fast, slow }) => ({ [fast ?? "key"]: slow, ...${DECIDES} }));`,
};
/** Scripts that may read any parameter. */
const OPEN: Readonly<Record<string, string>> = {
  "a rest": `strategy(({ fast = 10, ...rest }) => (${DECIDES}));`,
  "a computed name": `strategy(({ fast = "fsat", [fast]: other }) => (${DECIDES}));`,
  "a computed member": `strategy((given) => { const fast = given["fa" + "st"]; return ${DECIDES}; });`,
  "a bound function": `strategy(function (own, { fast = 10 }) { return ${DECIDES}; }.bind(null, 1));`,
  "a second call that fails": `let calls = 0;
strategy(({ fast = 10 }) => { if (calls++ > 0) throw new Error("again"); return ${DECIDES}; });`,
};
const SAID: Readonly<Record<string, object>> = {
  "a pattern": { fast: { default: 10 }, slow: { default: "}" } },
  "a function": { fast: { default: 10 }, slow: {} },
  "members": { fast: { default: 10 }, slow: {} },
  "an object with computed keys": { fast: {}, slow: {} },
};
const schemaOf = (properties: object) => ({
  ...{ $comment: "Read from the code", type: "object" },
  ...{ properties, additionalProperties: false },
});

/** Patterns and lines that read parameters, and what is said of each: a default, or null for none. */
const DEFAULTS: readonly (readonly [reads: string, defaults: Readonly<Record<string, unknown>>])[] = [
  [
    `{ fast = 10, risk = -0.05, long = true, side = "both", 'x y': other = 1_000, tiny = 1e-3, half = .5 }`,
    { fast: 10, risk: -0.05, long: true, side: "both", "x y": 1000, tiny: 0.001, half: 0.5 },
  ],
  [
    "{ fast = 10, slow = fast * 3, most = 5 + 5, list = [1, 2], text = `ten`, none = null, far = 1e999 }",
    { fast: 10, slow: null, most: null, list: null, text: null, none: null, far: null },
  ],
  ["{ a = 1, /* b = 2, */ b = 3, // c = 4,\n c = 5, timeframe = '1h' }", { a: 1, b: 3, c: 5, timeframe: null }],
  [
    "const fast = p.fast ?? 10, slow = p.slow || 30\n const side = p.side ?? 'both';",
    { fast: 10, slow: 30, side: "both" },
  ],
  ["use(p.fast ?? 10, [p.slow ?? 2.5], { k: p.k ?? false });", { fast: 10, slow: 2.5, k: false }],
  // All reads of a name say one value, and nothing else belongs to it.
  ["use(p.a ?? 1, p.a ?? 1, p.b ?? 1, p.b ?? 2, p.c ?? 1, p.c);", { a: 1, b: null, c: null }],
  [
    "use(2 * p.a ?? 1, p.b ?? 1 + 1, !p.c || 3, 5 === p.d ?? 1, p.e ?? (1), p.f ?? use, p.g ? 1 : 2);",
    { a: null, b: null, c: null, d: null, e: null, f: null, g: null },
  ],
  ["const { fast = 10, slow: s = 'x', k } = p;", { fast: 10, slow: "x", k: null }],
];

function register(user: TestClient, slug: string, source: string, more: object = {}): Promise<Answer> {
  const { parameter_schema: _schema, ...rest } = registration(slug, { type: "script", source });
  return user.send("POST", "/api/strategies", { strategy: { ...rest, ...more } });
}

function submit(user: TestClient, strategy: string, parameters: object): Promise<Answer> {
  return user.send("POST", "/api/backtests", {
    backtest: { ...RANGE, strategy, parameters: { timeframe: "1d", ...parameters } },
  });
}

async function complete(user: TestClient, submitted: Answer): Promise<Answer> {
  expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  const ended = await user.finish(String(submitted.at("/backtest/id")));
  expect([ended.at("/backtest/status"), ended.at("/backtest/error")]).toEqual(["completed", null]);
  return ended;
}

/** Status, code and place of a refusal. */
const refusal = (answer: Answer) => [answer.status, answer.at("/error/code"), answer.at("/error/issues/0/path")];

Deno.test("a registered script without a schema refuses what it does not read, in every kind of run", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  let n = 0;
  for (const [name, source] of Object.entries(CERTAIN)) {
    await t.step(name, async () => {
      const slug = `certain-${n++}`;
      expect((await register(user, slug, source)).at("/strategy/parameter_schema")).toEqual(schemaOf(SAID[name]!));
      const refused = await submit(user, slug, { fsat: 3 });
      expect(refusal(refused)).toEqual([400, "INVALID_PARAMETERS", "/backtest/parameters/fsat"]);
      expect(refused.at("/error/message")).toContain(
        'parameters/fsat is not a known parameter: did you mean fast? There are "fast", "slow"',
      );
      await complete(user, await submit(user, slug, { fast: 3, "x-note": "a remark" }));
    });
  }
  for (const [name, source] of Object.entries(OPEN)) {
    await t.step(name, async () => {
      const slug = `open-${n++}`;
      const registered = await register(user, slug, source);
      expect(registered.at("/strategy/parameter_schema")).toEqual({ type: "object", properties: {} });
      expect((await submit(user, slug, { fsat: 3 })).status).toBe(202);
    });
  }
  for (const [reads, defaults] of DEFAULTS) {
    await t.step(reads, async () => {
      const source = reads.startsWith("{")
        ? `strategy((${reads}) => (${DECIDES}));`
        : `const use = () => 0;\nstrategy((p) => { ${reads} return ${DECIDES}; });`;
      const registered = await register(user, `defaults-${n++}`, source);
      const properties = Object.entries(defaults).map((
        [name, value],
      ) => [name, value === null ? {} : { default: value }]);
      expect(registered.at("/strategy/parameter_schema")).toEqual(schemaOf(Object.fromEntries(properties)));
    });
  }
  await t.step("a run has the defaults of the code, and may give any other value", async () => {
    const trades = async (slug: string, parameters: object) => {
      const ended = await complete(user, await submit(user, slug, parameters));
      return [ended.at("/backtest/parameters/days"), ended.at("/backtest/result/metrics/final_equity")];
    };
    const held = `const days = p.days ?? 5; return { decide(i, candles, account, orders) {
      if (i % Number(days) === 0) orders.buy(); else if (i % Number(days) === 2) orders.close(); } };`;
    await register(user, "held", `strategy((p) => { ${held} });`);
    const [, count] = await trades("held", { days: 5 });
    expect(await trades("held", {})).toEqual([5, count]);
    expect(await trades("held", { days: "5" })).toEqual(["5", count]);
    expect(await trades("held", { days: null })).toEqual([null, count]);
    const submitted = await user.send("POST", "/api/optimizations", {
      optimization: {
        ...{ ...OPTIMIZATION, strategy: "held", parameters: { timeframe: "1h" } },
        space: { days: { min: 4, max: 8, step: 2 } },
      },
    });
    expect([submitted.status, submitted.at("/error")]).toEqual([202, undefined]);
  });
  await t.step("default_config", async () => {
    const refused = await register(user, "with-config", CERTAIN["a pattern"]!, { default_config: { fsat: 3 } });
    expect(refusal(refused)).toEqual([400, "INVALID_PARAMETERS", "/strategy/default_config/fsat"]);
    const change = { strategy: { default_config: { fsat: 3 } } };
    const patched = await user.send("PATCH", "/api/strategies/certain-0", change);
    expect(refusal(patched)).toEqual([400, "INVALID_PARAMETERS", "/strategy/default_config/fsat"]);
  });
  await t.step("optimizations and walk forward", async () => {
    const send = (change: object) =>
      user.send("POST", "/api/optimizations", {
        optimization: { ...OPTIMIZATION, strategy: "certain-0", parameters: { timeframe: "1h" }, ...change },
      });
    const space = { fast: { values: [5, 10] } };
    const fixed = await send({ space, parameters: { timeframe: "1h", slwo: 3 } });
    expect(refusal(fixed)).toEqual([400, "INVALID_PARAMETERS", "/optimization/parameters/slwo"]);
    for (const more of [{}, { walk_forward: { train_days: 10, test_days: 5 } }]) {
      const varied = await send({ space: { fsat: { values: [5, 10] } }, ...more });
      expect([varied.status, varied.at("/error/issues/0/path")]).toEqual([400, "/optimization/space/fsat"]);
      expect(varied.at("/error/message")).toContain("did you mean fast?");
      expect([(await send({ space, ...more })).at("/error"), more]).toEqual([undefined, more]);
    }
  });
  await t.step("many markets", async () => {
    await register(user, "many", "portfolio(({ top = 3 }) => ({ decide() {} }));");
    const instruments = [{ symbol: "DEMO", exchange: "SAMPLE" }];
    const refused = await submit(user, "many", { topp: 1, instruments });
    expect(refusal(refused)).toEqual([400, "INVALID_PARAMETERS", "/backtest/parameters/topp"]);
    await complete(user, await submit(user, "many", { top: 1, instruments }));
    expect(refusal(await submit(user, "certain-0", { fsat: 1, instruments }))[1]).toBe("INVALID_PARAMETERS");
  });
  await service.close();
});

Deno.test("each version has the parameters of its own code", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const versionOf = (names: string) => `strategy(({ ${names} }) => (${DECIDES}));`;
  const push = (slug: string, source: string) =>
    user.send("POST", `/api/strategies/${slug}/versions`, {
      version: { runtime_config: { type: "script", source } },
    });
  const at = (version: string) => ({ runtime: { slug: "moved", version } });

  await t.step("a newer one reads other parameters, and the older one runs on", async () => {
    await register(user, "moved", versionOf("fast = 10"));
    expect((await push("moved", versionOf("quick = 10"))).at("/version/version")).toBe("1.1");
    expect((await user.get("/api/strategies/moved")).at("/strategy/parameter_schema/properties")).toEqual({
      quick: { default: 10 },
    });
    await user.send("PATCH", "/api/strategies/moved", { strategy: { default_config: { quick: 20 } } });
    const older = await complete(user, await submit(user, "any", { fast: 3, ...at("1.0") }));
    expect(older.at("/backtest/parameters")).not.toHaveProperty("quick");
    const newer = await complete(user, await submit(user, "moved", {}));
    expect(newer.at("/backtest/parameters/quick")).toBe(20);
    expect(refusal(await submit(user, "any", { quick: 3, ...at("1.0") }))[2]).toBe("/backtest/parameters/quick");
    expect(refusal(await submit(user, "any", { fast: 3, ...at("1.1") }))[2]).toBe("/backtest/parameters/fast");
    const refused = await push("moved", versionOf("fast = 10"));
    expect(refusal(refused)).toEqual([400, "INVALID_PARAMETERS", "/strategy/default_config/quick"]);
  });

  await t.step("versions from before take any name, as they did", async () => {
    await administer(service.databaseUrl, "update strategy_versions set parameter_schema = null");
    const schema = '{"type":"object","properties":{}}';
    await administer(
      service.databaseUrl,
      `update strategies set parameter_schema = '${schema}', default_config = '{}'`,
    );
    await complete(user, await submit(user, "moved", { fsat: 3 }));
    expect((await push("moved", versionOf("fast = 10"))).status).toBe(201);
    expect(refusal(await submit(user, "moved", { fsat: 3 }))[1]).toBe("INVALID_PARAMETERS");
    await complete(user, await submit(user, "any", { fsat: 3, ...at("1.1") }));
  });
  await service.close();
});
