import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import type { TestClient } from "../support/client.ts";
import { DATABASES } from "../support/database.ts";
import { requireTables } from "../support/tables.ts";
import { requireVerified } from "../support/verifying.ts";
import { startTestService } from "../support/service.ts";
import { importTen, REQUEST } from "../support/ten_candles.ts";

const DAY_MS = 86_400_000;

for (const kind of DATABASES) {
  Deno.test(`a trader submits a backtest, polls it and reads right trades (${kind})`, async (t) => {
    const service = await startTestService(kind);
    await importTen(service);
    const trader = await service.user();
    let id = "";

    await t.step("it is accepted at once, with everything filled in that decides the result", async () => {
      const answer = await trader.send("POST", "/api/backtests", { backtest: REQUEST });
      expect(answer.status).toBe(202);
      id = String(answer.at("/backtest/id"));
      expect(answer.headers.get("location")).toBe(`/api/backtests/${id}`);
      expect(answer.at("/backtest/strategy_slug")).toBe("sma-cross");
      expect(answer.at("/backtest/result")).toBeNull();
      expect(answer.at("/backtest/parameters/execution/fill")).toBe("next_open");
      expect(answer.at("/backtest/parameters/execution/quantityStep")).toBe(1);
    });

    await t.step("it completes, and its numbers can be checked on paper", async () => {
      const done = await trader.finish(id);
      expect(done.at("/backtest/status")).toBe("completed");
      expect(done.at("/backtest/progress")).toBe(1);
      expect(done.at("/backtest/result/data/candles")).toBe(10);
      // Means at the close of 6 January: fast (8 + 12) / 2 = 10, slow (9 + 8 + 12) / 3 = 9.67, the day before 8.5 and 9:
      // a cross upwards, so 83 shares are bought at the open of 9 January, 12. At the close of 11 January: 13.5 and 14, the day before
      // 15.5 and 14.33: a cross downwards, sold at the open of 12 January, 11. 83 x (11 - 12) = -83.
      expect(done.at("/backtest/result/metrics/final_equity")).toBe(917);
      expect(done.at("/backtest/result/metrics/trades")).toBe(1);
    });

    await t.step("its trades", async () => {
      const answer = await trader.get(`/api/backtests/${id}/trades`);
      expect(answer.at("/next_cursor")).toBeNull();
      expect(answer.list("/trades")).toEqual([expect.objectContaining({
        number: 1,
        side: "long",
        quantity: 83,
        entry_time: "2023-01-09T00:00:00.000Z",
        entry_price: 12,
        exit_time: "2023-01-12T00:00:00.000Z",
        exit_price: 11,
        fees: 0,
        pnl: -83,
        exit_reason: "signal",
        entry_order: 1,
        exit_order: 2,
        tag: null,
        exit_tag: null,
      })]);
    });

    await t.step("its equity at each close", async () => {
      const points = (await trader.get(`/api/backtests/${id}/equity`)).list("/equity");
      expect(points.map((point) => Object(point).equity)).toEqual(
        // Flat, then 1000 - 83 x 12 = 4 in cash and 83 shares at 15, 16, 11, then flat again.
        [1000, 1000, 1000, 1000, 1000, 1249, 1332, 917, 917, 917],
      );
      expect((await trader.get(`/api/backtests/${id}/equity?points=4`)).list("/equity").length).toBeLessThanOrEqual(4);
      await requireCut(trader, id);
    });

    await t.step("its whole equity and its returns, in every format", async () => {
      const raw = (path: string) =>
        fetch(`${service.url}/api/backtests/${id}${path}`, { headers: { cookie: trader.cookie } });
      const equity = await raw("/equity?format=csv");
      expect(equity.headers.get("content-type")).toMatch(/^text\/csv/);
      const lines = (await equity.text()).split("\n");
      expect([lines[0], lines[6], lines.length]).toEqual([
        "timestamp,equity,drawdown,position",
        "2023-01-09T00:00:00.000Z,1249,0,83",
        12,
      ]);
      const arrow = await raw("/returns?period=daily&format=arrow");
      const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
      expect(table.schema.fields.map(({ name }) => name)).toEqual(["timestamp", "return", "equity"]);
      expect(table.numRows).toBe(10);
      expect([...table.getChild("return")!].slice(4, 8)).toEqual(
        [0, 249 / 1000, 1332 / 1249 - 1, 917 / 1332 - 1].map((value) => expect.closeTo(value, 12)),
      );
      for (
        const [period, timestamp] of [["monthly", "2023-01-01T00:00:00.000Z"], ["yearly", "2023-01-01T00:00:00.000Z"]]
      ) {
        expect((await trader.get(`/api/backtests/${id}/returns?period=${period}`)).list("/returns")).toEqual([
          { timestamp, return: expect.closeTo(-0.083, 12), equity: 917 },
        ]);
      }
      expect((await trader.get(`/api/backtests/${id}/returns?period=hourly`)).status).toBe(400);
    });

    await t.step("its trades, orders and equity as tables, whole and in pages", () => requireTables(trader, id));

    await t.step("an answer that has not changed is 304", async () => {
      const first = await trader.get(`/api/backtests/${id}`);
      const again = await trader.get(`/api/backtests/${id}`, { "if-none-match": String(first.headers.get("etag")) });
      expect([again.status, again.text]).toEqual([304, ""]);
    });

    await t.step("the list is newest first, filtered, and continues by cursor", async () => {
      const second = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, initial_balance: 2000 } });
      await trader.finish(second.at("/backtest/id"));
      const page = await trader.get("/api/backtests?limit=1&status=completed&symbol=TEN&strategy=SMA%20Cross");
      expect(page.list("/backtests").map((one) => Object(one).initial_balance)).toEqual([2000]);
      const rest = await trader.get(`/api/backtests?limit=1&cursor=${page.at("/next_cursor")}`);
      expect(rest.list("/backtests").map((one) => Object(one).id)).toEqual([id]);
      expect(rest.at("/next_cursor")).toBeNull();
      expect((await trader.get("/api/backtests?status=failed")).list("/backtests")).toEqual([]);
      expect((await trader.get("/api/backtests?cursor=nonsense")).status).toBe(400);
    });

    await t.step("it takes a name, tags, notes and a star, which change nothing else", async () => {
      const patch = (backtest: object) => trader.send("PATCH", `/api/backtests/${id}`, { backtest });
      const before = Object((await trader.get(`/api/backtests/${id}`)).at("/backtest"));
      const labels = { name: " Cafe\u0301 ", tags: ["live", " live", "b"], notes: "one\r\n\ttwo \n", star: true };
      const stored = { name: "Caf\u00e9", tags: ["live", "b"], notes: "one\n\ttwo", star: true };
      expect((await patch(labels)).at("")).toEqual({ backtest: { ...before, ...stored } });
      expect((await patch({})).at("/backtest")).toEqual({ ...before, ...stored });
      expect((await patch({ star: false })).at("/backtest")).toEqual({ ...before, ...stored, star: false });
      const found = await trader.get("/api/backtests?tag=live&starred=false&search=CAF&view=summary&sort=return");
      expect(found.list("/backtests")).toMatchObject([{
        id,
        name: "Caf\u00e9",
        metrics: { total_return: expect.closeTo(-0.083, 12) },
      }]);
      // Ten candles: the equity at each close, against 1000.
      expect(found.at("/backtests/0/sparkline")).toEqual([1, 1, 1, 1, 1, 1.249, 1.332, 0.917, 0.917, 0.917]);
      expect((await patch({ name: null, tags: null, notes: " ", star: null })).at("/backtest")).toEqual(before);
      const named = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...labels, fresh: true } });
      expect(named.at("/backtest")).toMatchObject(stored);
      expect((await trader.finish(named.at("/backtest/id"))).at("/backtest/result/run_key"))
        .toBe(before.result.run_key);
      const other = await service.user();
      expect((await other.send("PATCH", `/api/backtests/${id}`, { backtest: { name: "mine" } })).status).toBe(404);
    });

    await t.step("sorted pages continue by a cursor of the same order", async () => {
      const summaries = async (query: string) => await trader.get(`/api/backtests?view=summary&sort=return&${query}`);
      const whole = (await summaries("")).list("/backtests").map((one) => Object(one).id);
      const first = await summaries("limit=1");
      const rest = await summaries(`limit=200&cursor=${first.at("/next_cursor")}`);
      expect([...first.list("/backtests"), ...rest.list("/backtests")].map((one) => Object(one).id)).toEqual(whole);
      const refused = await summaries(`order=asc&cursor=${first.at("/next_cursor")}`);
      expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/cursor"]);
    });

    await t.step("it is compared with another run from where both have begun", async () => {
      const later = { ...REQUEST, start_date: "2023-01-06", initial_balance: 1500 };
      const second = (await trader.send("POST", "/api/backtests", { backtest: later })).at("/backtest/id");
      await trader.finish(second);
      const compare = (ids: string) => trader.get(`/api/backtests/compare?ids=${ids}`);
      const answer = await compare(`${id},${second}`);
      expect(answer.list("/backtests").map((one) => Object(one).id)).toEqual([id, second]);
      expect(answer.list("/differences").filter((one) => !Object(one).path.endsWith("sha256"))).toEqual([
        { path: "/start_date", values: ["2023-01-02", "2023-01-06"] },
        { path: "/initial_balance", values: [1000, 1500] },
      ]);
      expect(answer.list("/metrics")).toContainEqual({ name: "final_equity", values: [917, 1375] });
      expect(answer.list("/curves/timestamps").map((time) => String(time).slice(8, 10)))
        .toEqual(["06", "09", "10", "11", "12", "13"]);
      // 125 shares for all of 1500, at 15, 16 and 11, which is also the price at which they are sold.
      const near = (values: number[]) => values.map((value) => expect.closeTo(value, 12));
      expect(answer.at("/curves/equity")).toEqual([
        near([1, 1.249, 1.332, 0.917, 0.917, 0.917]),
        near([1, 1.25, 2000 / 1500, 1375 / 1500, 1375 / 1500, 1375 / 1500]),
      ]);
      expect(answer.at("/curves/drawdown/1/5")).toBeCloseTo(625 / 2000, 12);
      for (const ids of [id, `${id},${id}`, Array(6).fill(id).join(), `${id},${crypto.randomUUID()}`, `${id},x`, ""]) {
        expect([ids, (await compare(ids)).status]).toEqual([
          ids,
          /,(x|\w{8}-)/.test(ids.replaceAll(id, "")) ? 404 : 400,
        ]);
      }
      const input = encodeURIComponent(JSON.stringify({ ids: [id, second], points: 2 }));
      const typed = await trader.get(`/trpc/backtests.compare?input=${input}`);
      expect(typed.list("/result/data/curves/timestamps").length).toBe(2);
      const foreign = await (await service.user()).get(`/api/backtests/compare?ids=${id},${second}`);
      expect([foreign.status, foreign.at("/error/code")]).toEqual([404, "BACKTEST_NOT_FOUND"]);
    });

    await t.step("to another user it does not exist, in the very bytes of an unknown id", async () => {
      const other = await service.user();
      const unknown = crypto.randomUUID();
      for (const path of ["", "/trades", "/equity", "/returns"]) {
        const fixed = { "x-request-id": "same" };
        const foreign = await other.get(`/api/backtests/${id}${path}`, fixed);
        const missing = await other.get(`/api/backtests/${unknown}${path}`, fixed);
        expect([foreign.status, missing.status]).toEqual([404, 404]);
        expect(foreign.text.replaceAll(id, "ID")).toBe(missing.text.replaceAll(unknown, "ID"));
      }
      expect((await other.get("/api/backtests/not-an-id")).at("/error/code")).toBe("BACKTEST_NOT_FOUND");
      expect((await other.get("/api/backtests")).list("/backtests")).toEqual([]);
    });

    await t.step("without candles in the range it fails and says what is held", async () => {
      const early = { ...REQUEST, start_date: "2019-01-01", end_date: "2020-01-01" };
      const answer = await trader.send("POST", "/api/backtests", { backtest: early });
      const done = await trader.finish(answer.at("/backtest/id"));
      expect(done.at("/backtest/status")).toBe("failed");
      expect(done.at("/backtest/error/code")).toBe("NO_DATA");
      expect(done.at("/backtest/error/message")).toMatch(/2023-01-02/);
      expect((await trader.get(`/api/backtests/${answer.at("/backtest/id")}/trades`)).list("/trades")).toEqual([]);
      const refused = await trader.get(`/api/backtests/compare?ids=${id},${done.at("/backtest/id")}`);
      expect([refused.status, refused.at("/error/message")]).toEqual([400, expect.stringContaining("is failed")]);
      const unknown = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, symbol: "NOWHERE" } });
      const failed = await trader.finish(unknown.at("/backtest/id"));
      expect(failed.at("/backtest/error/code")).toBe("NO_DATA");
    });
    await t.step("its repetition is equal, and another run differs", () => requireVerified(trader, id));

    await service.close();
  });
}

Deno.test("a backtest that cannot be right is refused, naming the field and the value", async () => {
  const service = await startTestService();
  const trader = await service.user();
  const today = new Date().toISOString().slice(0, 10);
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10);
  const own = (parameters: Readonly<Record<string, unknown>>) => ({
    parameters: { ...REQUEST.parameters, ...parameters },
  });
  const execution = (value: unknown) => own({ execution: value });
  const cases: readonly (readonly [change: object, code: string, path: string, value: string])[] = [
    [{ start_date: "2023-02-29" }, "VALIDATION_FAILED", "/start_date", "2023-02-29"],
    [{ start_date: "2023-1-2" }, "VALIDATION_FAILED", "/start_date", "2023-1-2"],
    [{ start_date: 20230102 }, "VALIDATION_FAILED", "/start_date", "20230102"],
    [{ start_date: undefined }, "VALIDATION_FAILED", "/start_date", "required"],
    [{ end_date: "2023-01-02" }, "INVALID_DATE_RANGE", "/start_date", "2023-01-02"],
    [{ end_date: "2022-12-31" }, "INVALID_DATE_RANGE", "/start_date", "2023-01-02"],
    [{ end_date: tomorrow }, "FUTURE_DATE_RANGE", "/end_date", tomorrow],
    [{ start_date: tomorrow, end_date: "2999-01-01" }, "FUTURE_DATE_RANGE", "/start_date", tomorrow],
    [{ initial_balance: 0 }, "VALIDATION_FAILED", "/initial_balance", "0"],
    [{ initial_balance: -1 }, "VALIDATION_FAILED", "/initial_balance", "-1"],
    [{ initial_balance: 1e13 }, "VALIDATION_FAILED", "/initial_balance", "10000000000000"],
    [{ initial_balance: "x" }, "VALIDATION_FAILED", "/initial_balance", '"x"'],
    [{ symbol: "" }, "VALIDATION_FAILED", "/symbol", '""'],
    [{ leverage: 5 }, "VALIDATION_FAILED", "/leverage", "known"],
    [{ strategy: "No Such Thing" }, "UNKNOWN_STRATEGY", "/strategy", "No Such Thing"],
    [own({ runtime: { slug: "no-such" } }), "UNKNOWN_STRATEGY", "/parameters/runtime/slug", "no-such"],
    [{ strategy: "SMA Crss" }, "UNKNOWN_STRATEGY", "/strategy", "did you mean SMA Cross?"],
    [own({ runtime: { slug: "smacross" } }), "UNKNOWN_STRATEGY", "/parameters/runtime/slug", "did you mean sma-cross?"],
    [own({ runtime: { slug: "SMA Cross" } }), "UNKNOWN_STRATEGY", "/parameters/runtime/slug", 'name is "sma-cross"'],
    [own({ timeframe: "1mo" }), "INVALID_PARAMETERS", "/parameters/timeframe", "did you mean 1M?"],
    [own({ timeframe: "1H" }), "INVALID_PARAMETERS", "/parameters/timeframe", "did you mean 1h?"],
    [own({ session: "extnded" }), "INVALID_PARAMETERS", "/parameters/session", "did you mean extended?"],
    [{ symbl: "X" }, "VALIDATION_FAILED", "/symbl", "did you mean symbol? There are symbol, exchange, strategy"],
    [execution({ fill: "next_opn" }), "VALIDATION_FAILED", "/parameters/execution/fill", "did you mean next_open?"],
    [own({ runtime: { slug: "sma-cross", version: "9.9" } }), "UNKNOWN_STRATEGY", "/parameters/runtime/version", "9.9"],
    [own({ timeframe: "7m" }), "INVALID_PARAMETERS", "/parameters/timeframe", "7m"],
    [own({ timeframe: 5 }), "INVALID_PARAMETERS", "/parameters/timeframe", "5"],
    [own({ fast: "ten" }), "INVALID_PARAMETERS", "/parameters/fast", "integer"],
    [own({ fast: 2.5 }), "INVALID_PARAMETERS", "/parameters/fast", "integer"],
    [own({ fast: 0 }), "INVALID_PARAMETERS", "/parameters/fast", "0"],
    [own({ direction: "up" }), "INVALID_PARAMETERS", "/parameters/direction", "long"],
    [own({ fsat: 3 }), "INVALID_PARAMETERS", "/parameters/fsat", "fsat"],
    [own({ slw: 3 }), "INVALID_PARAMETERS", "/parameters/slw", "did you mean slow?"],
    [execution({ profile: "lucky" }), "VALIDATION_FAILED", "/parameters/execution/profile", "lucky"],
    [execution({ commission: -1 }), "VALIDATION_FAILED", "/parameters/execution/commission", "-1"],
    [execution({ comission: 0.1 }), "VALIDATION_FAILED", "/parameters/execution/comission", "known"],
    [execution("cheap"), "VALIDATION_FAILED", "/parameters/execution", "cheap"],
  ];
  for (const [change, code, path, value] of cases) {
    const answer = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...change } });
    const label = JSON.stringify(change);
    expect([label, answer.status, answer.at("/error/code")]).toEqual([label, 400, code]);
    const issues = answer.list("/error/issues").map((issue) => String(Object(issue).path));
    expect([label, issues]).toEqual([label, expect.arrayContaining([`/backtest${path}`])]);
    expect([label, answer.text.replaceAll("\\", "")]).toEqual([label, expect.stringContaining(value)]);
  }
  const whole = await trader.send("POST", "/api/backtests", { backtest: { ...REQUEST, end_date: today } });
  expect(whole.status).toBe(202);
  const empty = await trader.send("POST", "/api/backtests", {});
  expect(empty.list("/error/issues")).toEqual([{ path: "/backtest", message: "is required" }]);
  expect((await trader.get("/api/backtests?limit=0")).status).toBe(400);
  expect((await trader.get("/api/backtests?limit=1&limit=2")).status).toBe(400);
  expect((await trader.get("/api/backtests?lmit=1")).headers.get("x-ignored-query")).toBe("lmit");
  await service.close();
});

/** A stretch of the curve has the drawdowns of the whole. */
async function requireCut(trader: TestClient, id: string): Promise<void> {
  const get = (query: string) => trader.get(`/api/backtests/${id}/equity?${query}`);
  const points = (await get("from=2023-01-11&to=2023-01-12T00:00:00.001Z")).list("/equity").map(Object);
  expect(points.map(({ equity, drawdown }) => [equity, drawdown])).toEqual(Array(2).fill([917, (1332 - 917) / 1332]));
  expect((await get("from=2023-01-13&format=csv")).text.split("\n").length).toBe(3);
  expect((await get("to=2023-01-02")).list("/equity")).toEqual([]);
  for (const [query, path] of [["from=2023-01-05&to=2023-01-05", "/from"], ["to=noon", "/to"]]) {
    expect([query, (await get(query!)).at("/error/issues/0/path")]).toEqual([query, path]);
  }
}
