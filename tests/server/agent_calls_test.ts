/** Agents' calls about many markets, and messages that are no calls. */
import { expect } from "@std/expect";
import { connectAgent } from "../support/agent.ts";
import { startTestService } from "../support/service.ts";

const MARKET = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  start_date: "2024-01-01",
  end_date: "2024-03-01",
  timeframe: "1h",
};

Deno.test("an agent runs over many markets, and a request is one call", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "agent", scope: "run" } });
  const agent = await connectAgent(service, String(made.at("/secret")));

  await t.step("a list of markets is kept, read in pages and run with one account", async () => {
    const members = ["OAK", "BIRCH", "ASPEN"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
    expect(await agent.call("write_universe", { slug: "three-trees", members })).toMatchObject({
      version: 1,
      members: 3,
    });
    const [first = MARKET, ...others] = members;
    const changed = [{ ...first, from: "2024-02-01" }, ...others];
    expect(await agent.call("write_universe", { slug: "three-trees", members: changed })).toMatchObject({ version: 2 });
    expect(await agent.call("list_universes", { search: "three-trees" }))
      .toMatchObject({ universes: [{ slug: "three-trees", latest_version: 2, members: 3, is_owner: true }] });
    expect(await agent.call("read_universe", { slug: "three-trees" }))
      .toMatchObject({ members: [{ symbol: "OAK", from: "2024-02-01" }, { symbol: "BIRCH" }, { symbol: "ASPEN" }] });
    const asked = { ...MARKET, ...first, timeframe: "1d", strategy: "Equal Weight" };
    const shared = await agent.call("run_backtest", { ...asked, markets: { instruments: members } });
    expect([shared.status, Number(Object(shared.metrics).fees_paid) > 0]).toEqual(["completed", true]);
    expect(await agent.call("run_backtest", { ...asked, markets: { universe: "three-trees" } }))
      .toMatchObject({ status: "completed" });
    expect(await agent.refused("run_backtest", { ...asked, markets: { universe: "three-tree" } }))
      .toMatchObject({ code: "UNIVERSE_NOT_FOUND" });
  });
  await t.step("each kind of run is cancelled by its own kind", async () => {
    for (
      const [kind, code] of [
        ["backtest", "BACKTEST_NOT_FOUND"],
        ["optimization", "OPTIMIZATION_NOT_FOUND"],
        ["stress_test", "STRESS_TEST_NOT_FOUND"],
      ]
    ) expect(await agent.refused("cancel", { kind, id: crypto.randomUUID() })).toMatchObject({ code });
  });
  await t.step("one request is one call, and what is no call costs nothing", async () => {
    const authorization = `Bearer ${made.at("/secret")}`;
    const headers = { authorization, accept: "application/json, text/event-stream" };
    const call = { jsonrpc: "2.0", method: "tools/call", params: { name: "find_data", arguments: {} } };
    const stranger = service.client();
    const batch = await stranger.send(
      "POST",
      "/mcp",
      Array.from({ length: 100 }, (_, id) => ({ ...call, id })),
      headers,
    );
    expect([batch.status, batch.text.length < 1_000]).toEqual([400, true]);
    for (
      const [body, more] of [
        [{ jsonrpc: "2.0", id: 1, method: "tools/nothing" }, {}],
        [{ ...call, id: 1, params: { name: "no_tool", arguments: {} } }, {}],
        [{ ...call, id: 1, params: { name: "find_data", arguments: { cursor: "x".repeat(5_000) } } }, {}],
        [{ ...call, id: 1, params: 5 }, {}],
        [[], {}],
        ["null", {}],
        [{ ...call, id: 1 }, { "mcp-protocol-version": "9999-99-99" }],
        [{ ...call, id: 1 }, { accept: "text/plain" }],
      ] as const
    ) {
      const refused = await stranger.send("POST", "/mcp", body, {
        "content-type": "application/json",
        ...headers,
        ...more,
      });
      expect([body, refused.status < 500, refused.text.length < 1_000]).toEqual([body, true, true]);
    }
    for (const method of ["GET", "DELETE", "PUT"]) {
      expect([method, (await stranger.send(method, "/mcp", undefined, headers)).status]).toEqual([method, 405]);
    }
  });
  await agent.close();
  await service.close();
});
