/** Trading sessions over HTTP: from a file to the days of a result. */
import { expect } from "@std/expect";
import { backtestRecords } from "../../db/backtests.ts";
import { openPostgres } from "../../db/client.ts";
import { monteCarloRecords } from "../../db/monte_carlos.ts";
import { ReadThrough } from "../../market/on_demand/read_through.ts";
import { CandleCache } from "../../workers/backtest/candle_cache.ts";
import { loadPathsInput } from "../../workers/monte_carlo/paths_input.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

const secret = { "x-ingestion-admin-secret": INGESTION_SECRET };
const HEADER = "date,open,high,low,close,volume\n";

async function importFile(client: TestClient, query: string, times: readonly string[]) {
  const file = HEADER + times.map((time, i) => `${time},${100 + i},${101 + i},${99 + i},${100 + i},10\n`).join("");
  const path = `/api/admin/ingestion/import?${query}`;
  return await client.send("POST", path, file, { ...secret, "content-type": "text/csv" });
}

Deno.test("trading sessions over HTTP", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  await t.step(
    "hours at half past are imported, stored and run, and their days are the market's",
    () => runHours(service, user),
  );
  await t.step("minutes make days of regular or of extended hours", () => readDays(user));
  await t.step("an admin sets an instrument's session", () => setSession(user));
  await service.close();
});

async function runHours(service: TestService, user: TestClient) {
  // Five days around the Sunday on which New York's clock goes forward, each with hours from 09:30 to 15:30.
  const opens = [7, 8, 11, 12, 13].map((day) => Date.UTC(2024, 2, day, day < 10 ? 14 : 13, 30));
  const times = opens.flatMap((open) =>
    Array.from({ length: 7 }, (_, i) => new Date(open + i * 3_600_000).toISOString())
  );
  const query = "symbol=HALF&exchange=NASDAQ&assetClass=stock&timeframe=1h";
  const answer = await importFile(user, query, times);
  expect([answer.at("/imported"), answer.at("/convention")]).toEqual([
    35,
    "stamped from the open of the session (America/New_York)",
  ]);
  const range = { start_date: "2024-03-07", end_date: "2024-03-14" };
  const parameters = { timeframe: "1h", fast: 2, slow: 4 };
  const backtest = { ...BACKTEST, ...range, symbol: "HALF", exchange: "NASDAQ", parameters };
  const submitted = await user.send("POST", "/api/backtests", { backtest });
  expect(submitted.status).toBe(202);
  const ended = await user.get(`/api/backtests/${submitted.at("/backtest/id")}?wait=30`);
  expect(ended.at("/backtest/status")).toBe("completed");
  expect(ended.at("/backtest/result/data")).toMatchObject({
    candles: 35,
    first: "2024-03-07T14:30:00.000Z",
    last: "2024-03-13T19:30:00.000Z",
    gaps: 0,
    session: {
      hours: "regular",
      timezone: "America/New_York",
      open: "09:30",
      close: "16:00",
      weekdays: [1, 2, 3, 4, 5],
    },
  });
  const days = await user.get(
    "/api/market-data/ticks?symbol=HALF&startDate=2024-03-07&endDate=2024-03-14&timeframe=1d",
  );
  // The last day's candles reach its close; each day opens and closes with its own hours.
  expect(days.list("/ticks").map((tick) => Object(tick).timestamp.slice(0, 10))).toEqual([
    ...["2024-03-07", "2024-03-08", "2024-03-11", "2024-03-12", "2024-03-13"],
  ]);
  expect(days.at("/ticks/1")).toMatchObject({ open: 107, close: 113, volume: 70 });
  await simulateDays(service, user, String(submitted.at("/backtest/id")));
}

/** Five trading days of seven hours each, over seven days of the calendar. */
async function simulateDays({ databaseUrl }: TestService, user: TestClient, backtest_id: string) {
  const submit = (monte_carlo: object) =>
    user.send("POST", "/api/monte-carlo", { monte_carlo: { backtest_id, runs: 5, ...monte_carlo } });
  for (const method of ["returns", "candles"]) {
    const refused = await submit({ method, block_days: 6 });
    expect([refused.status, refused.at("/error/issues/0/message")]).toEqual([
      400,
      "must be at most the 5 trading days of the backtest, not 6",
    ]);
  }
  const ids = await Promise.all(["returns", "candles"].map(async (method) => {
    const accepted = await submit({ method, block_days: 2 });
    expect([accepted.status, accepted.at("/monte_carlo/block_days")]).toEqual([202, 2]);
    return String(accepted.at("/monte_carlo/id"));
  }));
  const { db, close } = await openPostgres(databaseUrl, 2);
  const readThrough = new ReadThrough(db, () => undefined);
  const services = { db, candles: new CandleCache(db), readThrough, candlesMax: Infinity };
  const backtest = await backtestRecords.get(db, {
    id: backtest_id,
    ownerId: String((await user.get("/api/auth/get-session")).at("/user/id")),
  });
  const lengths = await Promise.all(ids.map(async (id) => {
    const record = await monteCarloRecords.get(db, { id, ownerId: backtest!.ownerId });
    const { task } = await loadPathsInput(services, record!, { ...backtest!, result: backtest!.result! });
    return "blockLength" in task ? task.blockLength : null;
  }));
  // Two days, and the candles of two days.
  expect(lengths).toEqual([2, 14]);
  await readThrough.close();
  await close();
}

async function readDays(user: TestClient) {
  // 08:00, 09:30, 15:59 and 18:00 in New York, on a Wednesday and on the Thursday after it.
  const times = [3, 4].flatMap((day) => ["13:00", "14:30", "20:59", "23:00"].map((time) => `2024-01-0${day}T${time}Z`));
  await importFile(user, "symbol=EARLY&exchange=NYSE&assetClass=stock&timeframe=1m", times);
  const read = async (more: string) => {
    const path = "/api/market-data/ticks?symbol=EARLY&startDate=2024-01-03&endDate=2024-01-05&timeframe=1d";
    return (await user.get(path + more)).list("/ticks").map((tick) => Object(tick).volume);
  };
  expect(await read("")).toEqual([20, 20]);
  // The minutes do not show yet that Thursday's late trade is over.
  expect(await read("&session=extended")).toEqual([40]);
  const refused = await user.get(
    "/api/market-data/ticks?symbol=EARLY&startDate=2024-01-03&endDate=2024-01-05&session=x",
  );
  expect([refused.status, refused.at("/error/issues/0/path")]).toEqual([400, "/session"]);
}

async function setSession(user: TestClient) {
  const instrument = { symbol: "LATE", exchange: "SOMEWHERE", assetClass: "stock", provider: "import" };
  const session = { timezone: "Asia/Dubai", open: "10:00", close: "14:45", weekdays: [1, 2, 3, 4, 5], extended: null };
  const send = (body: object) => user.send("POST", "/api/admin/ingestion/instruments", body, secret);
  const added = await send({ instrument: { ...instrument, session } });
  expect([added.status, added.at("/instrument/session")]).toEqual([201, session]);
  const path = `/api/admin/ingestion/instruments/${added.at("/instrument/id")}`;
  const changed = await user.send("PATCH", path, { instrument: { session: { ...session, open: "11:00" } } }, secret);
  expect(changed.at("/instrument/session/open")).toBe("11:00");
  const cleared = await user.send("PATCH", path, { instrument: { session: null } }, secret);
  expect(cleared.at("/instrument/session/timezone")).toBe("America/New_York");
  const wrong = await send({
    instrument: { ...instrument, symbol: "X", session: { ...session, timezone: "Mars/Base" } },
  });
  expect(wrong.at("/error/issues/0")).toMatchObject({ path: "/instrument/session/timezone" });
}
