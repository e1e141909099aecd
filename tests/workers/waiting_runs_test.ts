/** Runs that wait for a provider's candles while their worker ends. */
import { expect } from "@std/expect";
import postgres from "postgres";
import { BACKTEST } from "../support/client.ts";
import { OPTIMIZATION } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { withProvider } from "../support/provider.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const START = Date.UTC(2024, 0, 1);
const HOUR = 3_600_000;
const MARKET = { symbol: "BTCUSDT", exchange: "BINANCE", start_date: "2024-01-01", end_date: "2024-01-15" };
const MANY = { parameters: { ...BACKTEST.parameters, instruments: [{ symbol: "BTCUSDT", exchange: "BINANCE" }] } };

Deno.test("a worker that ends gives back the runs that wait for a provider, and the next one does them", async () => {
  const silent = Promise.withResolvers<Response>();
  const hours = (url: URL) => {
    const first = Math.max(START, Number(url.searchParams.get("startTime")));
    const rows = Array.from({ length: 400 }, (_, n) => {
      const price = String(100 + n % 30);
      return [first + n * HOUR, price, price, price, price, "1", first + (n + 1) * HOUR - 1, "0", 1, "0", "0", "0"];
    });
    return Response.json(rows.filter((row) => Number(row[0]) <= Number(url.searchParams.get("endTime"))));
  };
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  let isSilent = true;
  await withProvider((url) => isSilent ? silent.promise : hours(url), async (baseUrl, asked) => {
    const work = () =>
      startProcess("worker", {
        DATABASE_URL: service.databaseUrl,
        BETTER_AUTH_SECRET: "a secret of at least 32 characters",
        BINANCE_BASE_URL: baseUrl,
        LOG_LEVEL: "warning",
        WORKERS: "2",
      });
    const bodies = [
      ["backtest", { ...BACKTEST, ...MARKET }],
      ["backtest", { ...BACKTEST, ...MARKET, ...MANY }],
      ["optimization", { ...OPTIMIZATION, ...MARKET }],
    ] as const;
    const runs = await Promise.all(bodies.map(async ([kind, body]) => {
      const answer = await user.send("POST", `/api/${kind}s`, { [kind]: body });
      expect([answer.status, answer.at("/error")]).toEqual([202, undefined]);
      return { kind, id: String(answer.at(`/${kind}/id`)) };
    }));
    const first = await work();
    const active = () => sql`select id from pgboss.job where state = 'active'`;
    await until(async () => asked.length > 0 && (await active()).length === runs.length);
    const { stderr } = await first.end("SIGTERM");
    silent.resolve(new Response("late", { status: 503 }));
    expect([stderr, [...await active()]]).toEqual(["", []]);
    isSilent = false;
    const second = await work();
    for (const { kind, id } of runs) {
      const ended = await user.poll(`/api/${kind}s/${id}`, `/${kind}/status`);
      expect([kind, ended.at(`/${kind}/error`)]).toEqual([kind, null]);
    }
    await second.end("SIGTERM");
  });
  await sql.end();
  await service.close();
});
