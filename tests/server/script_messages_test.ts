/** Messages that authors of scripts get for their mistakes, over HTTP. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { deciding } from "../workers/sandbox/script/scripts.ts";
import { RANGE } from "./foreign_code.ts";

const MAKES = "{ decide(i, candles, account, orders) { if (i === 3) orders.buy({ size }); } }";
const NAMED: Readonly<Record<string, string>> = {
  "a pattern": `strategy(({ size = 1, stop = 2 }) => (${MAKES}));`,
  "a pattern with types": `strategy(({ size = 1, stop }: { size?: number; stop?: number }) => (${MAKES}));`,
  "a function": `function make({ size = 1, stop }) { return ${MAKES}; }\nstrategy(make);`,
  "a name": `strategy((given) => { const { size = 1 } = given; const stop = given.stop; return ${MAKES}; });`,
};
/** Scripts that may read any parameter. */
const OPEN: Readonly<Record<string, string>> = {
  "a rest": `strategy(({ size = 1, ...rest }) => (${MAKES}));`,
  "a spread": `strategy((given) => { const { size = 1 } = { ...given }; return ${MAKES}; });`,
  "arguments": `strategy(function () { const { size = 1 } = arguments[0]; return ${MAKES}; });`,
};

async function submit(user: TestClient, parameters: object, strategy = "draft") {
  return await user.send("POST", "/api/backtests", {
    backtest: { ...RANGE, strategy, parameters: { timeframe: "1d", ...parameters } },
  });
}

Deno.test("a draft refuses a parameter that it does not read, with the names that it reads", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const send = (source: string, parameters: object) =>
    submit(user, { runtime: { type: "script", source }, ...parameters });
  for (const [name, source] of Object.entries(NAMED)) {
    await t.step(name, async () => {
      const refused = await send(source, { sice: 5 });
      expect([refused.status, refused.at("/error/code")]).toEqual([400, "INVALID_SCRIPT"]);
      expect(refused.at("/error/message")).toContain("sice is no parameter of the script: it reads size, stop");
      const taken = await send(source, { size: 2, stop: 3, "x-note": "a remark" });
      expect((await user.finish(taken.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
    });
  }
  for (const [name, source] of Object.entries(OPEN)) {
    await t.step(name, async () => expect((await send(source, { sice: 5 })).status).toBe(202));
  }
  await t.step("no parameters", async () => {
    const refused = await send(`strategy(() => ({ decide() {} }));`, { size: 1 });
    expect(refused.at("/error/message")).toContain("size is no parameter of the script: it reads none");
  });
  await t.step("markets", async () => {
    const source = "portfolio(({ top = 3 }) => ({ decide() {} }));";
    const refused = await send(source, { topp: 1, instruments: [RANGE] });
    expect(refused.at("/error/message")).toContain("topp is no parameter of the script: it reads top");
  });
  await service.close();
});

Deno.test("import is a word in a comment; a slug names a strategy", async () => {
  const service = await startTestService();
  const user = await service.user();
  const source = `// import nothing\n/* nor import() */ ${deciding('const text = "// a"; if (i === 3) orders.buy();')}`;
  const taken = await submit(user, { runtime: { type: "script", source } });
  expect((await user.finish(taken.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  const text = await submit(user, { runtime: { type: "script", source: deciding('const word = "import";') } });
  expect(text.at("/error/message")).toMatch(/strategy\.ts:3:55: import cannot be used, not even in quotes/);

  const named = await submit(user, {}, "buy-and-hold");
  expect([named.status, named.at("/backtest/strategy")]).toEqual([202, "buy-and-hold"]);
  expect((await user.finish(named.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  await service.close();
});
