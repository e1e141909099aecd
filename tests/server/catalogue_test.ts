import { expect } from "@std/expect";
import { startTestService } from "../support/service.ts";

Deno.test("the catalogue shows the built-in strategies with all that a form needs", async (t) => {
  const service = await startTestService();
  const user = await service.user();

  await t.step("an entry", async () => {
    const entry = (await user.get("/api/strategies/sma-cross")).at("/strategy");
    expect(entry).toMatchObject({
      slug: "sma-cross",
      name: "SMA Cross",
      source: "builtin",
      runtime_type: "builtin",
      language: "typescript",
      is_public: true,
      is_owner: false,
      parameter_schema: { type: "object", properties: { fast: { type: "integer" } } },
      runtime: { type: "builtin", slug: "sma-cross" },
    });
    expect((await user.get("/api/strategies/no-such")).at("/error/code")).toBe("STRATEGY_NOT_FOUND");
    for (const slug of ["sma", "sma-crss"]) {
      const message = (await user.get(`/api/strategies/${slug}`)).at("/error/message");
      expect(message).toBe(`Cannot find the strategy "${slug}": did you mean sma-cross?`);
    }
  });

  await t.step("search, filters and pages", async () => {
    const slugs = async (query: string) =>
      (await user.get(`/api/strategies?${query}`)).list("/strategies").map((entry) => String(Object(entry).slug));
    const all = await slugs("limit=200");
    expect(all).toEqual(expect.arrayContaining(["buy-and-hold", "sma-cross"]));
    expect(await slugs("search=SMA")).toContain("sma-cross");
    expect(await slugs("search=no-such-thing")).toEqual([]);
    expect(await slugs("source=registry")).toEqual([]);
    expect(await slugs("runtime_type=builtin&limit=200")).toEqual(all);
    const first = await user.get("/api/strategies?limit=1");
    const second = await user.get(`/api/strategies?limit=1&cursor=${first.at("/next_cursor")}`);
    expect([...first.list("/strategies"), ...second.list("/strategies")].map((one) => Object(one).slug))
      .toEqual(all.slice(0, 2));
    expect((await user.get("/api/strategies?source=elsewhere")).status).toBe(400);
  });

  await t.step("its runtime can be pasted into a backtest as it is", async () => {
    const runtime = (await user.get("/api/strategies/sma-cross")).at("/strategy/runtime");
    const backtest = {
      symbol: "DEMO",
      exchange: "SAMPLE",
      strategy: "any label",
      start_date: "2024-01-01",
      end_date: "2024-01-02",
      initial_balance: 1000,
      parameters: { timeframe: "1h", runtime },
    };
    const answer = await user.send("POST", "/api/backtests", { backtest });
    expect([answer.status, answer.at("/backtest/strategy_slug")]).toEqual([202, "sma-cross"]);
    expect((await user.finish(answer.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
  });

  await t.step("it says which strategies decide on many markets at once", async () => {
    const decides = async (slug: string) => (await user.get(`/api/strategies/${slug}`)).at("/strategy/decides_on");
    expect([await decides("sma-cross"), await decides("pairs")]).toEqual(["market", "markets"]);
  });

  await t.step("built-ins have one version, the engine's", async () => {
    const versions = (await user.get("/api/strategies/sma-cross/versions")).list("/versions");
    expect(versions.length).toBe(1);
    const latest = (await user.get("/api/strategies/sma-cross")).at("/strategy/latest_version");
    expect(Object(versions[0]).version).toBe(latest);
  });
  await service.close();
});
