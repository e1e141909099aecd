/** Runs that wait for a provider's candles while their worker ends, or while they are cancelled. */
import { expect } from "@std/expect";
import postgres from "postgres";
import { BACKTEST } from "../support/client.ts";
import { OPTIMIZATION } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { type Handler, withProvider } from "../support/provider.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const START = Date.UTC(2024, 0, 1);
const HOUR = 3_600_000;
const BTC = { symbol: "BTCUSDT", exchange: "BINANCE" };
const MARKET = { ...BTC, start_date: "2024-01-01", end_date: "2024-01-15" };
const MANY = { parameters: { ...BACKTEST.parameters, instruments: [BTC] } };

const giveHours: Handler = (url) => {
  const first = Math.max(START, Number(url.searchParams.get("startTime")));
  const rows = Array.from({ length: 400 }, (_, n) => {
    const price = String(100 + n % 30);
    return [first + n * HOUR, price, price, price, price, "1", first + (n + 1) * HOUR - 1, "0", 1, "0", "0", "0"];
  });
  return Response.json(rows.filter((row) => Number(row[0]) <= Number(url.searchParams.get("endTime"))));
};

Deno.test("runs that wait for a provider are given back when their worker ends, and end when they are cancelled", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const active = () => sql`select id from pgboss.job where state = 'active'`;
  let silent = Promise.withResolvers<Response>();
  let isSilent = true;
  await withProvider((url, request) => isSilent ? silent.promise : giveHours(url, request), async (baseUrl, asked) => {
    const work = () =>
      startProcess("worker", {
        DATABASE_URL: service.databaseUrl,
        BETTER_AUTH_SECRET: "a secret of at least 32 characters",
        BINANCE_BASE_URL: baseUrl,
        LOG_LEVEL: "warning",
        WORKERS: "2",
      });
    const submit = async (path: string, body: object = {}) => {
      const answer = await user.send("POST", path, body);
      expect([path, answer.status, answer.at("/error")]).toEqual([path, 202, undefined]);
      const [noun = ""] = Object.keys(Object(answer.at("")));
      const { id } = Object(answer.at(`/${noun}`));
      return { noun, id: String(id), path: String(answer.headers.get("location")) };
    };
    const beginSilence = async () => {
      [isSilent, silent] = [true, Promise.withResolvers()];
      asked.length = 0;
      await sql`delete from candle_coverage`;
      await sql`delete from candle_chunks where instrument_id in (select id from instruments where symbol = ${BTC.symbol})`;
    };
    const untilWaiting = (count: number) => until(async () => asked.length > 0 && (await active()).length === count);
    /** The silent provider answers once the worker is gone, and the next one finds it speaking. */
    const pass = async (runs: readonly { readonly noun: string; readonly path: string }[]) => {
      const first = await work();
      await untilWaiting(runs.length);
      const { stderr } = await first.end("SIGTERM");
      silent.resolve(new Response("late", { status: 503 }));
      expect([stderr, [...await active()]]).toEqual(["", []]);
      isSilent = false;
      const second = await work();
      for (const { noun, path } of runs) {
        const ended = await user.poll(path, `/${noun}/status`);
        expect([noun, ended.at(`/${noun}/error`)]).toEqual([noun, null]);
      }
      await second.end("SIGTERM");
    };
    const backtest = await submit("/api/backtests", { backtest: { ...BACKTEST, ...MARKET } });
    await pass([
      backtest,
      await submit("/api/backtests", { backtest: { ...BACKTEST, ...MARKET, ...MANY } }),
      await submit("/api/optimizations", { optimization: { ...OPTIMIZATION, ...MARKET } }),
    ]);
    const simulate = ({ id }: { readonly id: string }) =>
      submit("/api/monte-carlo", { monte_carlo: { backtest_id: id, method: "candles", runs: 5 } });
    await beginSilence();
    await pass([await submit(`/api/backtests/${backtest.id}/stress`), await simulate(backtest)]);

    await beginSilence();
    const cancelled = await simulate(backtest);
    const worker = await work();
    await untilWaiting(1);
    const answer = await user.send("POST", `${cancelled.path}/cancel`);
    // A process makes one simulation at a time, so this one needs the place of the other.
    const held = await submit("/api/backtests", { backtest: BACKTEST });
    await user.poll(held.path, "/backtest/status");
    const next = await user.poll((await simulate(held)).path, "/monte_carlo/status");
    const { stderr } = await worker.end("SIGTERM");
    silent.resolve(new Response("late", { status: 503 }));
    expect([answer.status, next.at("/monte_carlo/status"), stderr]).toEqual([202, "completed", ""]);
  });
  await sql.end();
  await service.close();
});
