import { expect } from "@std/expect";
import postgres from "postgres";
import { BACKTEST } from "../support/client.ts";
import { OPTIMIZATION } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const BACKTESTS = [
  `runtime = '{"type": "gpu", "minCandles": 1, "lookbackCandles": 0}'`,
  `runtime = jsonb_build_object('type', 'script', 'sha256', repeat('0', 64), 'language', 'rust')`,
  "strategy_slug = 'of-tomorrow', strategy_version = '99.0.0'",
  `parameters = jsonb_set(parameters, '{timeframe}', '"7h"')`,
  `parameters = jsonb_set(parameters, '{session}', '"night"')`,
  `parameters = jsonb_set(parameters, '{execution,profile}', '"zipline"')`,
  `parameters = jsonb_set(parameters, '{execution,darkPools}', 'true')`,
  `parameters = parameters || '{"instruments": [], "portfolio": {"rank": "volume"}}'`,
];
// Over many markets, with one account.
const PORTFOLIOS = BACKTESTS.slice(0, 6);
const OPTIMIZATIONS = [
  "method = 'bayes'",
  "objective = 'sortino_2'",
  "direction = 'target'",
  `space = '{"tree": []}'`,
  `space = jsonb_set(space, '{axes,0,scale}', '"log"')`,
];
const MANY = { parameters: { ...BACKTEST.parameters, instruments: [{ symbol: "DEMO", exchange: "SAMPLE" }] } };

const workerOf = ({ databaseUrl }: TestService) =>
  startProcess("worker", {
    DATABASE_URL: databaseUrl,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    LOG_LEVEL: "warning",
  });

Deno.test("a worker leaves what a newer build submitted to a worker of that build, and says why", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const submit = async (table: "backtests" | "optimizations", change: string, more: object = {}) => {
    const body = table === "backtests" ? { backtest: { ...BACKTEST, ...more } } : { optimization: OPTIMIZATION };
    const answer = await user.send("POST", `/api/${table}`, body);
    if (answer.status !== 202) throw new Error(answer.text);
    const id = String(answer.at(`/${table.slice(0, -1)}/id`));
    await sql.unsafe(`update ${table} set ${change} where id = '${id}'`);
    return { table, id, change };
  };
  const left = [
    ...await Promise.all(BACKTESTS.map((change) => submit("backtests", change))),
    ...await Promise.all(PORTFOLIOS.map((change) => submit("backtests", change, MANY))),
    ...await Promise.all(OPTIMIZATIONS.map((change) => submit("optimizations", change))),
  ];
  const plain = await submit("backtests", "name = 'plain'");
  const worker = await workerOf(service);
  // Jobs that were given back begin later.
  const delayed = () =>
    sql`select count(*)::int as jobs from pgboss.job where state = 'retry' and start_after > now() + interval '30 s'`;
  await until(async () => (await delayed())[0]?.jobs >= left.length);
  expect((await user.finish(plain.id)).at("/backtest/status")).toBe("completed");
  for (const { table, id, change } of left) {
    const [row] = await sql.unsafe(`select status, error from ${table} where id = '${id}'`);
    expect([change, row]).toEqual([change, { status: expect.stringMatching(/^(queued|running)$/), error: null }]);
  }
  const { stderr } = await worker.end("SIGTERM");
  const lines = stderr.split("\n").filter((line) => /to a newer build/.test(line));
  expect(lines).toHaveLength(left.length);
  for (const { id } of left) expect(lines.filter((line) => line.includes(id))).toHaveLength(1);
  await sql.end();
  await service.close();
});

Deno.test("a worker of the build that can read the record runs it", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const id = String((await user.send("POST", "/api/backtests", { backtest: BACKTEST })).at("/backtest/id"));
  await sql`update backtests set strategy_slug = 'of-tomorrow', strategy_version = '99.0.0' where id = ${id}`;
  const older = await workerOf(service);
  await until(async () => (await sql`select 1 from pgboss.job where state = 'retry'`).length === 1);
  await older.end("SIGTERM");
  // This build stands for the newer one: the strategy is known, and the minute has passed.
  await sql`update backtests set strategy_slug = 'sma-cross' where id = ${id}`;
  await sql`update pgboss.job set start_after = now() where state = 'retry'`;
  const newer = await workerOf(service);
  expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
  await newer.end("SIGTERM");
  await sql.end();
  await service.close();
});

Deno.test("a run over many markets whose stored parameters contradict each other fails with the reason", async () => {
  const service = await startTestService("PostgreSQL", { WORKERS: "0" });
  const user = await service.user();
  const sql = postgres(service.databaseUrl, { max: 1, fetch_types: false, onnotice() {} });
  const submitted = await user.send("POST", "/api/backtests", { backtest: { ...BACKTEST, ...MANY } });
  const id = String(submitted.at("/backtest/id"));
  const pairs = { entry: 1, exit: 2, stop: 3, lookback: 60, halfLife: 30, exposure: 1 };
  await sql`update backtests set strategy_slug = 'pairs', parameters = parameters || ${
    sql.json(pairs)
  } where id = ${id}`;
  const worker = await workerOf(service);
  expect((await user.finish(id)).at("/backtest/error")).toEqual({
    code: "STRATEGY_FAILED",
    message: "exit, entry and stop must rise: 2, 1 and 3 do not",
  });
  const { stderr } = await worker.end("SIGTERM");
  expect(stderr).not.toContain("RangeError");
  await sql.end();
  await service.close();
});
