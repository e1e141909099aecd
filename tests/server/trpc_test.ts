import { expect } from "@std/expect";
import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import type { AppRouter } from "../../routers/app.ts";
import { BACKTEST } from "../support/client.ts";
import { startTestService } from "../support/service.ts";
import { orderTrades } from "./trade_order_steps.ts";

Deno.test("a typed client uses the same procedures over a real socket", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const connect = (cookie: string, more: Readonly<Record<string, string>> = {}) =>
    createTRPCClient<AppRouter>({
      links: [httpBatchLink({ url: `${service.url}/trpc`, headers: { cookie, ...more } })],
    });
  const api = connect(user.cookie);

  await t.step("queries answer what REST answers", async () => {
    const { session, user: me } = await api.session.get.query();
    expect(session.id).toBe((await user.get("/api/session")).at("/session/id"));
    expect(me.role).toBe("user");
    const { strategies } = await api.strategies.list.query({ search: "cross" });
    expect(strategies.map((strategy) => strategy.slug)).toContain("sma-cross");
  });

  await t.step("a backtest runs from submission to trades", async () => {
    const { backtest } = await api.backtests.create.mutate({
      backtest: {
        symbol: "DEMO",
        exchange: "SAMPLE",
        strategy: "SMA Cross",
        start_date: "2024-01-01",
        end_date: "2024-02-01",
        initial_balance: 10_000,
        parameters: { timeframe: "1h" },
      },
    });
    const done = await user.finish(backtest.id);
    expect(done.at("/backtest/status")).toBe("completed");
    const read = await api.backtests.get.query({ id: backtest.id });
    expect(read.backtest.result).toEqual(done.at("/backtest/result"));
    // 31 days of 24 candles; a client reads them, and every metric, without asking what they are.
    const { data, metrics, execution } = requireResult(read.backtest);
    expect(data.candles).toBe(744);
    const sharpe: number | null = metrics.sharpe;
    expect([typeof sharpe, typeof metrics.start, execution.sizing.type]).toEqual([
      "number",
      "string",
      "equity_fraction",
    ]);
    // As tRPC's infinite queries ask.
    const { trades } = await api.backtests.trades.query({ id: backtest.id, limit: 3, direction: "forward" });
    expect(trades.length).toBe(3);
    const table = await api.backtests.tradeTable.query({ id: backtest.id, after: 1, limit: 2 });
    expect([table.number, table.pnl, table.entry_time.map((time) => new Date(time).toISOString())])
      .toEqual([[2, 3], [trades[1]!.pnl, trades[2]!.pnl], [trades[1]!.entry_time, trades[2]!.entry_time]]);
    // A side's figures are those that its trades alone would have.
    const { long, short } = await api.backtests.sides.query({ id: backtest.id });
    const { trades: all } = await api.backtests.trades.query({ id: backtest.id });
    const closed = all.filter(({ exit_time }) => exit_time !== null);
    for (const [side, name] of [[long, "long"], [short, "short"]] as const) {
      const pnl = closed.filter((trade) => trade.side === name).map((trade) => trade.pnl);
      const figures = new Map(side.map(({ name: metric, value }) => [metric, value] as const));
      const won = pnl.filter((each) => each > 0);
      expect([figures.get("trades"), figures.get("win_rate")])
        .toEqual([pnl.length, pnl.length === 0 ? null : won.length / pnl.length]);
      const total = pnl.reduce((sum, each) => sum + each, 0);
      expect(figures.get("expectancy") ?? 0).toBeCloseTo(pnl.length === 0 ? 0 : total / pnl.length, 9);
    }
    // 744 candles in buckets of 8: 512 candles begin at a whole bucket.
    const chart = await api.backtests.chart.query({ id: backtest.id, from: 515, points: 30 });
    expect([chart.candles, chart.from, chart.until, chart.step, chart.time.length]).toEqual([744, 512, 744, 8, 29]);
    const { ticks } = await api.marketData.ticks.query({
      ...{ symbol: "DEMO", timeframe: "1h", startDate: "2024-01-22", endDate: "2024-02-01", limit: 1000 },
    });
    const bucket = ticks.slice(8, 16);
    expect(new Date(chart.time[0]!).toISOString()).toBe(bucket[0]!.timestamp);
    expect([chart.open[0], chart.high[0], chart.low[0], chart.close[0]]).toEqual([
      bucket[0]!.open,
      Math.max(...bucket.map(({ high }) => high)),
      Math.min(...bucket.map(({ low }) => low)),
      bucket[7]!.close,
    ]);
    expect(chart.equity.at(-1)).toBe(metrics.final_equity);
    // Longer candles of its market are those of the archive; those that are not longer are refused.
    const [from, until] = [Date.UTC(2024, 0, 22, 5), Date.UTC(2024, 0, 23, 7)];
    const days = await api.backtests.candles.query({ id: backtest.id, timeframe: "1d", from, until });
    const { ticks: archived } = await api.marketData.ticks.query({
      ...{ symbol: "DEMO", timeframe: "1d", startDate: "2024-01-22", endDate: "2024-01-24", limit: 10 },
    });
    expect(days).toEqual({
      time: [Date.UTC(2024, 0, 22), Date.UTC(2024, 0, 23)],
      end: [Date.UTC(2024, 0, 23), Date.UTC(2024, 0, 24)],
      open: archived.map(({ open }) => open),
      high: archived.map(({ high }) => high),
      low: archived.map(({ low }) => low),
      close: archived.map(({ close }) => close),
    });
    await expect(api.backtests.candles.query({ id: backtest.id, timeframe: "1h", from, until })).rejects
      .toMatchObject({ data: { appCode: "VALIDATION_FAILED" } });
    const held = await api.backtests.chart.query({ id: backtest.id });
    expect(held.buy_hold.at(-1)! / 10_000 - 1).toBeCloseTo(metrics.buy_hold_return ?? NaN, 12);
    const stranger = connect((await service.user()).cookie);
    for (const read of [stranger.backtests.chart, stranger.backtests.tradeTable, stranger.backtests.sides]) {
      await expect(read.query({ id: backtest.id })).rejects.toMatchObject({ data: { appCode: "BACKTEST_NOT_FOUND" } });
    }
    expect((await connect("").backtests.metrics.query()).metrics.map(({ name }) => name)).toContain("sharpe");
  });

  await t.step("a batch reads so many candles, however few it answers", async () => {
    const range = { symbol: "DEMO", start_date: "2024-01-01", end_date: "2025-01-01" };
    const backtest = { ...BACKTEST, ...range, parameters: { timeframe: "1d" } };
    const { id } = (await api.backtests.create.mutate({ backtest })).backtest;
    expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
    const read = async (calls: number, call: () => Promise<unknown>) => {
      const answers = await Promise.allSettled(Array.from({ length: calls }, call));
      return answers.map((one) => one.status === "rejected" ? one.reason.message : "read").sort();
    };
    const refusal = "Cannot answer so much at once: the calls of a batch may read 4000000 candles in all; " +
      "send the rest in another";
    // Each reads 366 days of the curve, the year's 527,040 minutes, and January's 44,640 again for the first close.
    expect(await read(9, () => api.backtests.chart.query({ id, points: 10 })))
      .toEqual([refusal, refusal, ...Array(7).fill("read")]);
    // Twelve months are made of 527,040 minutes.
    const months = { symbol: "DEMO", startDate: "2024-01-01", endDate: "2025-01-01", limit: 12 };
    expect(await read(9, () => api.marketData.ticks.query({ ...months, timeframe: "1M" })))
      .toEqual([refusal, ...Array(8).fill("read")]);
  });

  await t.step("trades are ordered, filtered, found by time and counted over all of a large run", async () => {
    await orderTrades(user, api, connect((await service.user()).cookie));
  });

  await t.step("candles come with a limit", async () => {
    const range = { symbol: "DEMO", startDate: "2024-01-01", endDate: "2024-01-02" };
    const { ticks, next_cursor } = await api.marketData.ticks.query({ ...range, timeframe: "1h", limit: 10 });
    expect(ticks.length).toBe(10);
    expect(next_cursor).not.toBeNull();
  });

  await t.step("refusals carry the same code and issues", async () => {
    const refused = await api.backtests.get.query({ id: crypto.randomUUID() }).catch((error) => error);
    expect(refused).toBeInstanceOf(TRPCClientError);
    expect(refused.data.appCode).toBe("BACKTEST_NOT_FOUND");
    const stranger = await connect("").session.get.query().catch((error) => error);
    expect([stranger.data.httpStatus, stranger.data.appCode]).toEqual([401, "UNAUTHENTICATED"]);
    // A page of another origin is turned away before any procedure is looked for.
    const foreign = await connect(user.cookie, { origin: "https://evil.example.com" })
      .backtests.cancel.mutate({ id: crypto.randomUUID() }).catch((error) => error);
    expect(foreign.message).toBe('Cannot accept a request from the origin "https://evil.example.com"');
    expect(foreign.data).toEqual({
      code: "FORBIDDEN",
      httpStatus: 403,
      appCode: "ORIGIN_NOT_ALLOWED",
      issues: [],
      request_id: expect.stringMatching(/./),
    });
    const invalid = await api.backtests.list.query({ limit: 1000 }).catch((error) => error);
    expect(invalid.data.issues).toEqual([{ path: "/limit", message: "must be at most 200, not 1000" }]);
  });

  await t.step("tRPC has no procedures that only streams can carry", async () => {
    const answer = await user.get("/trpc/ingestionStreams.import");
    expect(answer.status).toBe(404);
  });
  await service.close();
});

const JSON_TYPE = { "content-type": "application/json" };

Deno.test("a stranger's input is not even looked at", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  for (const body of ["{", '{"a":"\\u0000"}', `{"a":"${"x".repeat(2 * 1024 * 1024)}"}`]) {
    const answer = await service.client().send("POST", "/trpc/backtests.create", body, JSON_TYPE);
    expect([answer.status, answer.at("/error/data/appCode")]).toEqual([401, "UNAUTHENTICATED"]);
  }
  await service.close();
});

Deno.test("tRPC has the limits of REST: sizes of bodies, numbers of requests, and the time to retry", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0", USER_BACKTESTS_MAX: "1" });
  const user = await service.user();
  const create = (body: unknown) => user.send("POST", "/trpc/backtests.create", JSON.stringify(body), JSON_TYPE);

  await t.step("a body is at most 1 MiB, not counting artifacts", async () => {
    const large = await create({ backtest: "x".repeat(2 * 1024 * 1024) });
    expect([large.status, large.at("/error/data/appCode")]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    const artifact = await create({ artifact: { content_base64: "x".repeat(2 * 1024 * 1024) } });
    expect([artifact.status, artifact.at("/error/data/appCode")]).toEqual([400, "VALIDATION_FAILED"]);
  });

  await t.step("a batch is bounded, since it counts as one request", async () => {
    const batch = (calls: number) => user.get(`/trpc/${Array(calls).fill("session.get").join()}?batch=1&input={}`);
    expect([(await batch(100)).status, (await batch(101)).status]).toEqual([200, 400]);
  });

  await t.step("and so are its candles, of which all are held until the last has been read", async () => {
    const page = { symbol: "DEMO", startDate: "2024-01-01", endDate: "2024-03-01", limit: 50_000 };
    const batch = async (calls: number) => {
      const input = Object.fromEntries(Array.from({ length: calls }, (_, call) => [call, page]));
      const names = Array(calls).fill("marketData.ticks").join();
      const query = `batch=1&input=${encodeURIComponent(JSON.stringify(input))}`;
      const answers = (await service.client().get(`/trpc/${names}?${query}`)).list("");
      return answers.map((one) => Object(one).error?.data.appCode ?? "read").sort();
    };
    expect(await batch(5)).toEqual(["RANGE_TOO_LARGE", "read", "read", "read", "read"]);
    // Each batch counts for itself.
    expect(await batch(1)).toEqual(["read"]);
  });

  await t.step("a refusal says when to come back", async () => {
    expect((await create({ backtest: BACKTEST })).status).toBe(200);
    const refused = await create({ backtest: BACKTEST });
    expect([refused.status, refused.at("/error/data/appCode"), refused.headers.get("retry-after")])
      .toEqual([429, "QUOTA_EXCEEDED", "10"]);
  });
  await service.close();
});

function requireResult<Result>({ result }: { readonly result: Result | null }): Result {
  if (result === null) throw new Error("Cannot find the result of a backtest that has completed");
  return result;
}
