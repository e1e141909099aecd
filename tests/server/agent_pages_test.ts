/** Lists that an agent reads to their end, of rows so long that a page of them is no answer. */
import { expect } from "@std/expect";
import { connectAgent } from "../support/agent.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

type Agent = Awaited<ReturnType<typeof connectAgent>>;

const WIDE = "\u4e70"; // Three bytes.

const TRADING = `strategy(() => ({
  decide(i, _, account, orders) {
    const tag = "${WIDE}".repeat(21);
    if (i % 4 === 0) orders.buy({ tag });
    else if (i % 4 === 2) orders.close(1, tag);
  },
}));
`;

Deno.test("an agent reads each list to its end, however long the rows are", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const made = await user.send("POST", "/api/tokens", { token: { name: "agent", scope: "run" } });
  const agent = await connectAgent(service, String(made.at("/secret")));

  await t.step("backtests", async () => {
    const ids = await submit(user, 9);
    expect(await readAll(agent, "list_backtests", "backtests", "id")).toEqual(ids.toReversed());
    expect(await readAll(agent, "list_backtests", "backtests", "id", { limit: 2 })).toEqual(ids.toReversed());
    expect(await agent.refused("list_backtests", { limit: 21 })).toMatchObject({ code: "VALIDATION_FAILED" });
  });
  await t.step("optimizations", async () => {
    const ids: unknown[] = [];
    for (let nth = 0; nth < 3; nth++) {
      const optimization = { ...BACKTEST, space: { fast: { values: [5, 6] } }, name: WIDE.repeat(200) };
      const sent = await user.send("POST", "/api/optimizations", { optimization });
      ids.unshift(sent.at("/optimization/id"));
    }
    expect(await readAll(agent, "list_optimizations", "optimizations", "id", { limit: 1 })).toEqual(ids);
  });
  await t.step("trades", async () => {
    const asked = { ...BACKTEST, strategy: "mine", timeframe: "1h", source: TRADING };
    const { parameters: _, ...question } = asked;
    const { id, metrics } = await agent.call("run_backtest", question);
    const numbers = await readAll(agent, "read_trades", "trades", "number", { id });
    expect(numbers).toEqual(Array.from({ length: Number(Object(metrics).trades) }, (_, index) => index + 1));
    expect(numbers.length).toBeGreaterThan(30);
  });
  await t.step("strategies", async () => {
    const slugs = Array.from({ length: 15 }, (_, nth) => `mine-${nth + 10}`);
    for (const slug of slugs) await register(user, slug);
    expect((await readAll(agent, "list_strategies", "strategies", "slug", { search: "mine-" })).toSorted())
      .toEqual(slugs);
  });
  await t.step("universes and their members", async () => {
    const members = Array.from({ length: 90 }, (_, nth) => ({
      symbol: `${"M".repeat(40)}${nth}`,
      exchange: "E".repeat(40),
    }));
    const slugs = Array.from({ length: 15 }, (_, nth) => `mine-${nth + 10}`);
    for (const slug of slugs) {
      const universe = { slug, description: WIDE.repeat(200), members };
      expect((await user.send("POST", "/api/universes", { universe })).status).toBe(201);
    }
    expect(await readAll(agent, "list_universes", "universes", "slug")).toEqual(slugs.toReversed());
    expect(await readAll(agent, "read_universe", "members", "symbol", { slug: "mine-10" }))
      .toEqual(members.map(({ symbol }) => symbol));
  });
  await t.step("instruments", async () => {
    const symbols = Array.from({ length: 45 }, (_, nth) => `${"LONG".repeat(10)}${nth + 10}`);
    for (const symbol of symbols) await importDay(user, symbol);
    expect((await readAll(agent, "find_data", "instruments", "symbol", { search: "LONGLONG" })).toSorted())
      .toEqual(symbols);
  });
  await agent.close();
  await service.close();
});

/** One field of all rows of a list, read as its answers say. At least one page is too long, unless a limit is asked for. */
async function readAll(
  agent: Agent,
  tool: string,
  name: string,
  field: string,
  asked: Record<string, unknown> = {},
): Promise<unknown[]> {
  const values: unknown[] = [];
  let [input, isTooLong] = [asked, false];
  for (;;) {
    const { [name]: rows, next_cursor, more } = await agent.call(tool, input);
    if (!Array.isArray(rows)) throw new Error(`There is no list ${name}`);
    const [, limit] = /with limit (\d+), all else the same$/.exec(String(more)) ?? [];
    if (limit !== undefined) {
      isTooLong = true;
      expect([tool, next_cursor, rows.length]).toEqual([tool, undefined, Number(limit)]);
      input = { ...input, limit: Number(limit) };
      continue;
    }
    values.push(...rows.map((row) => Object(row)[field]));
    const cursor = next_cursor ?? /with cursor (\S+)$/.exec(String(more))?.[1];
    if (cursor === undefined) break;
    input = { ...input, cursor };
  }
  expect([tool, isTooLong || "limit" in asked]).toEqual([tool, true]);
  return values;
}

/** Submits backtests with the longest words about them. @returns Their ids, oldest first. */
async function submit(user: TestClient, count: number): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (let nth = 0; nth < count; nth++) {
    const id = (await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id");
    const tags = Array.from({ length: 20 }, (_, tag) => `${tag}${WIDE.repeat(48)}`);
    const labels = { name: WIDE.repeat(200), tags };
    expect((await user.send("PATCH", `/api/backtests/${id}`, { backtest: labels })).status).toBe(200);
    ids.push(id);
  }
  return ids;
}

async function register(user: TestClient, slug: string): Promise<void> {
  const strategy = {
    ...{ slug, name: `${slug} ${WIDE.repeat(40)}`, description: WIDE.repeat(300) },
    ...{ runtime_type: "remote", language: "any" },
    initial_version: { version: "1", runtime_config: { type: "remote", endpoint: "https://signals.example.com/v1" } },
  };
  const { status, text } = await user.send("POST", "/api/strategies", { strategy });
  expect([status, status === 201 || text]).toEqual([201, true]);
}

async function importDay(user: TestClient, symbol: string): Promise<void> {
  const path = `/api/admin/ingestion/import?symbol=${symbol}&exchange=${"E".repeat(40)}&assetClass=stock&timeframe=1d`;
  const file = "date,open,high,low,close,volume\n2024-01-02,1,3,0.5,2,10\n";
  const headers = { "x-ingestion-admin-secret": INGESTION_SECRET, "content-type": "text/csv" };
  expect((await user.send("POST", path, file, headers)).status).toBe(200);
}
