import { expect } from "@std/expect";
import { openPostgres } from "../../db/client.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { complete, orderColumns, tradeColumns } from "../support/backtests.ts";
import { administer } from "../support/database.ts";
import { startTestService, type TestService } from "../support/service.ts";

const PAGE_BYTES_MAX = 1024 * 1024;
// Their text is longer than the system keeps for a client that does not read.
const ROWS_UNREAD = 150_000;

/** Copies the one row of a table, each copy with an id of its own. */
async function copyRow({ databaseUrl }: TestService, table: string, copies: number, changes: string): Promise<void> {
  const rows = await administer(
    databaseUrl,
    `select string_agg(quote_ident(column_name), ', ') as names from information_schema.columns
      where table_name = '${table}' and is_generated = 'NEVER'`,
  );
  const { names } = Object(rows[0]);
  await administer(
    databaseUrl,
    `insert into ${table} (${names})
      select ${names} from (select (jsonb_populate_record(one, ${changes})).* from ${table} one, generate_series(1, ${copies}) i) copy`,
  );
}

/** Reads pages until the last one. */
async function readPages(client: TestClient, path: string, name: string): Promise<unknown[][]> {
  const pages: unknown[][] = [];
  for (let cursor = ""; pages.length < 100;) {
    const answer = await client.get(`${path}${cursor}`);
    expect(answer.text.length).toBeLessThan(2 * PAGE_BYTES_MAX);
    pages.push([...answer.list(`/${name}`)]);
    if (answer.at("/next_cursor") === null) return pages;
    cursor = `&cursor=${answer.at("/next_cursor")}`;
  }
  throw new Error(`Cannot come to the end of ${path}`);
}

const ids = (items: readonly unknown[]) => items.map((item) => String(Object(item).id));

Deno.test("lists are complete without a limit, and pages have an end in bytes", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const ann = await service.user();

  await t.step("backtests", async () => {
    const note = "x".repeat(15_000);
    const parameters = { ...BACKTEST.parameters, "x-note": note };
    const created = await ann.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters } });
    expect([created.status, created.at("/backtest/parameters/x-note")]).toEqual([202, note]);
    await copyRow(service, "backtests", 149, "jsonb_build_object('id', gen_random_uuid())");
    const whole = await ann.get("/api/backtests");
    expect([whole.list("/backtests").length, whole.at("/next_cursor")]).toEqual([150, null]);
    const pages = await readPages(ann, "/api/backtests?limit=200", "backtests");
    // 15 KB each: a page of one MiB has fewer than 70.
    expect(pages.map((page) => page.length <= 70)).toEqual(pages.map(() => true));
    expect(ids(pages.flat())).toEqual(ids(whole.list("/backtests")));
    expect((await ann.get("/api/backtests?status=failed")).at("")).toEqual({ backtests: [], next_cursor: null });
    expect((await ann.get("/api/backtests?limit=20")).list("/backtests").length).toBe(20);
  });

  await t.step("summaries of backtests", async () => {
    const summaries = await ann.get("/api/backtests?view=summary");
    expect(summaries.list("/backtests").length).toBe(150);
    expect(summaries.text.length).toBeLessThan(150_000);
    expect(summaries.at("/backtests/0")).toMatchObject({ symbol: "DEMO", timeframe: "1h", metrics: null });
    expect(summaries.at("/backtests/0/settings")).toMatchObject({ fast: 10, slow: 30, direction: "both" });
    expect(Object.keys(Object(summaries.at("/backtests/0/settings")))).not.toContain("timeframe");
    expect(summaries.text).not.toContain("x-note");
    const typed = await ann.get(`/trpc/backtests.summaries?input=${encodeURIComponent('{"limit":2}')}`);
    expect(typed.list("/result/data/backtests").length).toBe(2);
  });

  await t.step("a batch of lists answers a few pages in all", async () => {
    const calls = Array.from({ length: 100 }, () => "backtests.list").join();
    const input = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i, { limit: 200 }]));
    const batch = await ann.get(`/trpc/${calls}?batch=1&input=${encodeURIComponent(JSON.stringify(input))}`);
    expect([batch.status, batch.list("").length]).toEqual([200, 100]);
    // 150 records of 15 KB a hundred times would be 225 MB.
    expect(batch.text.length).toBeLessThan(12 * PAGE_BYTES_MAX);
    for (const one of batch.list("")) expect(Object(one).result.data.backtests.length).toBeGreaterThan(0);
  });

  await t.step("a filter, an order or a label that cannot be right is refused, naming the field", async () => {
    const created = await ann.send("POST", "/api/backtests", { backtest: BACKTEST });
    await refuseLabels(ann, created.at("/backtest/id"));
    for (
      const [query, path, value] of [
        ["sort=shrp", "/sort", '"sharpe"'],
        ["order=down", "/order", '"desc", "asc"'],
        ["starred=yes", "/starred", "true or false"],
        ["created_from=2023", "/created_from", "2023"],
        ["created_from=2023-01-02&created_to=2023-01-02", "/created_from", "created_to"],
        ["tag=%20", "/tag", "1 character"],
        ["search=", "/search", "1 character"],
      ] as const
    ) {
      const refused = await ann.get(`/api/backtests?${query}`);
      expect([query, refused.status, refused.at("/error/issues/0/path")]).toEqual([query, 400, path]);
      expect(refused.at("/error/message")).toContain(value);
    }
  });
  await service.close();
});

Deno.test("trades and orders of a backtest", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const ann = await service.user();
  const handle = await openPostgres(service.databaseUrl, 1);
  const addCompleted = async (parts: Parameters<typeof complete>[2]) => {
    const id = String((await ann.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id"));
    await complete(handle.db, id, parts);
    return id;
  };

  await t.step("every one is answered, piece by piece", async () => {
    const id = await addCompleted({ trades: tradeColumns(4_321), orders: orderColumns(4_000) });
    for (const [name, count] of [["trades", 4_321], ["orders", 4_000]] as const) {
      const numbers = (items: readonly unknown[]) => items.map((item) => Object(item).number);
      const whole = await ann.get(`/api/backtests/${id}/${name}`);
      expect(numbers(whole.list(`/${name}`))).toEqual(Array.from({ length: count }, (_, i) => i + 1));
      expect(whole.at("/next_cursor")).toBeNull();
      const page = await ann.get(`/api/backtests/${id}/${name}?limit=200`);
      expect(page.list(`/${name}`)).toEqual(whole.list(`/${name}`).slice(0, 200));
      const rest = await ann.get(`/api/backtests/${id}/${name}?cursor=${page.at("/next_cursor")}`);
      expect(rest.list(`/${name}`)).toEqual(whole.list(`/${name}`).slice(200));
    }
  });

  await t.step("the answer breaks off when the backtest is deleted meanwhile", async () => {
    for (const name of ["trades", "orders"]) {
      const id = await addCompleted({ trades: tradeColumns(ROWS_UNREAD), orders: orderColumns(ROWS_UNREAD) });
      const answer = await fetch(`${service.url}/api/backtests/${id}/${name}`, { headers: { cookie: ann.cookie } });
      const reader = answer.body!.getReader();
      expect([answer.status, (await reader.read()).done]).toEqual([200, false]);
      expect((await ann.send("DELETE", `/api/backtests/${id}`)).status).toBe(204);
      const readOn = async () => {
        while (!(await reader.read()).done);
      };
      await expect(readOn()).rejects.toThrow(TypeError);
    }
  });
  await handle.close();
  await service.close();
});

Deno.test("the catalogue is complete without a limit, and has summaries", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const [ann, bob] = [await service.user(), await service.user()];
  const runtime_config = { type: "remote", endpoint: "https://signals.example.com/v1" };
  const properties = { a: { type: "number", description: "x".repeat(60_000) } };
  const strategy = {
    slug: "my_own_strategy",
    name: "Mine",
    runtime_type: "remote",
    language: "any",
    is_public: true,
    parameter_schema: { type: "object", properties },
    initial_version: { version: "1", runtime_config },
  };
  expect((await ann.send("POST", "/api/strategies", { strategy })).status).toBe(201);
  const tooLong = { ...strategy, slug: "too-long", default_config: { a: 1, note: "x".repeat(6_000) } };
  const refused = await ann.send("POST", "/api/strategies", { strategy: tooLong });
  expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/strategy/parameter_schema"]);
  expect(
    (await ann.send("PATCH", "/api/strategies/my_own_strategy", {
      strategy: { default_config: tooLong.default_config },
    })).status,
  )
    .toBe(400);
  await requireShortCatalogue(ann, bob, strategy);
  await copyRow(service, "strategies", 40, "jsonb_build_object('id', gen_random_uuid(), 'slug', 'copy-' || i)");
  await administer(
    service.databaseUrl,
    `insert into strategy_versions select (jsonb_populate_record(v, jsonb_build_object('strategy_id', strategies.id))).*
      from strategy_versions v, strategies where slug like 'copy-%'`,
  );
  const whole = await bob.get("/api/strategies");
  expect(whole.list("/strategies").filter((entry) => Object(entry).source === "registry").length).toBe(41);
  const pages = await readPages(bob, "/api/strategies?limit=200", "strategies");
  expect(pages.length).toBeGreaterThan(2);
  expect(pages.flat()).toEqual(whole.list("/strategies"));
  await administer(
    service.databaseUrl,
    `insert into strategy_versions select (jsonb_populate_record(v, jsonb_build_object('version', '2.' || i,
      'runtime_config', v.runtime_config || jsonb_build_object('endpoint', 'https://a.example/' || repeat('x', 1900))))).*
      from strategy_versions v join strategies s on s.id = v.strategy_id, generate_series(1, 100) i
      where s.slug = 'my_own_strategy'`,
  );
  const input = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [i, { slug: "my_own_strategy", limit: 200 }]));
  const calls = Array(100).fill("strategies.versions").join();
  const batch = await ann.get(`/trpc/${calls}?batch=1&input=${encodeURIComponent(JSON.stringify(input))}`);
  // 101 versions of 2 KB a hundred times would be 20 MB.
  expect(batch.text.length).toBeLessThan(12 * PAGE_BYTES_MAX);
  expect(batch.list("").map((one) => Object(one).result.data.versions.length > 0)).toEqual(Array(100).fill(true));
  expect((await ann.get("/api/strategies/my_own_strategy/versions?limit=200")).list("/versions").length).toBe(101);

  const summaries = await bob.get("/api/strategies?view=summary");
  expect(summaries.list("/strategies").map((entry) => Object(entry).slug))
    .toEqual(whole.list("/strategies").map((entry) => Object(entry).slug));
  expect(summaries.text.length).toBeLessThan(60_000);
  await service.close();
});

/** One account's public strategies take at most 512 KiB of everybody's catalogue; leaves the one that was there. */
async function requireShortCatalogue(owner: TestClient, other: TestClient, strategy: Record<string, unknown>) {
  const register = (i: number, is_public: boolean) =>
    owner.send("POST", "/api/strategies", { strategy: { ...strategy, slug: `large-${i}`, is_public } });
  // Eight have 480 KB, and nine would have 540.
  for (let i = 1; i < 8; i++) expect((await register(i, true)).status).toBe(201);
  const refused = await register(8, true);
  expect([refused.status, refused.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
  expect(refused.at("/error/message")).toContain("and may have 524288");
  expect((await register(8, false)).status).toBe(201);
  const change = (slug: string, strategy: object) => owner.send("PATCH", `/api/strategies/${slug}`, { strategy });
  expect((await change("large-8", { is_public: true })).at("/error/code")).toBe("QUOTA_EXCEEDED");
  expect((await owner.get("/api/strategies/large-8")).at("/strategy/is_public")).toBe(false);
  expect((await other.get("/api/strategies")).text.length).toBeLessThan(PAGE_BYTES_MAX);
  expect((await change("large-1", { is_public: false })).status).toBe(200);
  expect((await change("large-8", { is_public: true })).status).toBe(200);
  for (let i = 1; i <= 8; i++) expect((await owner.send("DELETE", `/api/strategies/large-${i}`)).status).toBe(204);
}

Deno.test("a backtest has at most 16 KiB of parameters, a module aside", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const ann = await service.user();
  const submit = (more: object) =>
    ann.send("POST", "/api/backtests", { backtest: { ...BACKTEST, parameters: { timeframe: "1h", ...more } } });
  const refused = await submit({ "x-note": "x".repeat(16 * 1024) });
  expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/backtest/parameters"]);
  expect(refused.at("/error/message")).toContain("at most 16384 bytes");
  await service.close();
});

async function refuseLabels(trader: TestClient, id: unknown): Promise<void> {
  const cases: readonly (readonly [labels: object, path: string])[] = [
    [{ name: "x".repeat(201) }, "/name"],
    [{ name: "a\nb" }, "/name"],
    [{ name: "\u202egnp.exe" }, "/name"],
    [{ name: 5 }, "/name"],
    [{ notes: "x".repeat(10_001) }, "/notes"],
    [{ notes: "bell \u0007" }, "/notes"],
    [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, "/tags"],
    [{ tags: ["ok", "x".repeat(51)] }, "/tags/1"],
    [{ tags: [" "] }, "/tags/0"],
    [{ star: "yes" }, "/star"],
    [{ title: "x" }, "/title"],
  ];
  for (const [labels, path] of cases) {
    const answer = await trader.send("PATCH", `/api/backtests/${id}`, { backtest: labels });
    const issue = [answer.status, answer.at("/error/code"), answer.at("/error/issues/0/path")];
    expect([labels, ...issue]).toEqual([labels, 400, "VALIDATION_FAILED", `/backtest${path}`]);
  }
  const longest = {
    name: "x".repeat(200),
    notes: "\u20ac".repeat(10_000),
    tags: Array(20).fill("").map((_, i) => `t${i}`),
  };
  expect((await trader.send("PATCH", `/api/backtests/${id}`, { backtest: longest })).at("/backtest")).toMatchObject(
    longest,
  );
}
