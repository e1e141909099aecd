/** Everything that a run over one market has, asked of runs over many: each answers, or says by name why it cannot. */
import { expect } from "@std/expect";
import { prepare } from "../support/prepare.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

type User = Awaited<ReturnType<TestService["user"]>>;
type Row = Readonly<Record<string, unknown>>;

const IDS = ["ALDER@SAMPLE", "ASPEN@SAMPLE", "PINE@SAMPLE"];
const instruments = [
  { symbol: "ALDER", exchange: "SAMPLE" },
  { symbol: "ASPEN", exchange: "SAMPLE" },
  { symbol: "PINE", exchange: "SAMPLE", to: "2024-05-18" },
];
const RUN = {
  ...{ symbol: "OAK", exchange: "SAMPLE", start_date: "2023-01-01", end_date: "2024-07-01", initial_balance: 10_000 },
};
const COSTS = { commission: 0.001 };
const KINDS = [
  {
    ...{ ...RUN, strategy: "Momentum Rotation" },
    parameters: { timeframe: "1d", instruments, lookback: 40, top: 2, filter: -1, every: "week", execution: COSTS },
  },
  {
    ...{ ...RUN, strategy: "SMA Cross" },
    parameters: {
      ...{ timeframe: "1d", instruments, fast: 3, slow: 15, direction: "both", execution: COSTS },
      // So near that a candle reaches both.
      ...{ stopLossLevel: 0.01, takeProfitLevel: 0.01 },
    },
  },
];

Deno.test("a run over many markets has everything that one over one has", async (t) => {
  const [service] = await Promise.all([startTestService("PostgreSQL"), prepare("console")]);
  const user = await service.user();
  for (const request of KINDS) {
    const name = request.strategy;
    const record = await complete(user, request);
    const path = `/api/backtests/${record.id}`;
    const result = Object(record.result);

    await t.step(`${name}: run key, integrity, notes, contributions, holdings`, () => {
      expect(result.run_key).toMatch(/^[0-9a-f]{64}$/);
      expect(result.integrity).toMatchObject({ lookahead: { status: "passed" }, determinism: { status: "passed" } });
      expect(result.notes).toContain("end_date 2024-07-01 is exclusive");
      expect(result.portfolio.contributions.map(({ instrument }: Row) => instrument)).toEqual(IDS);
      expect(result.portfolio.holdings.mean).toBeGreaterThan(0);
      expect(result.data.candles).toBeGreaterThan(370);
    });
    await t.step(`${name}: lists, curves and returns as JSON, CSV and Arrow`, () => exports(user, path));
    await t.step(`${name}: an equal one gets its result, a verified one equals it`, () => equal(user, request, record));
    await t.step(`${name}: it is reported and compared`, async () => {
      const report = await user.get(`${path}/report`);
      expect([report.status, IDS.every((id) => report.text.includes(id))]).toEqual([200, true]);
      const other = await complete(user, { ...request, initial_balance: 20_000 });
      const compared = await user.get(`/api/backtests/compare?ids=${record.id},${other.id}`);
      expect([compared.status, compared.text.includes(String(other.id))]).toEqual([200, true]);
    });
    await t.step(`${name}: Monte Carlo of trades and returns, and candles by name`, () => simulate(user, record));
    await t.step(`${name}: a stress test`, async () => {
      const made = await user.send("POST", `${path}/stress`);
      expect(made.status).toBe(202);
      const ended = await user.poll(`/api/stress-tests/${made.at("/stress_test/id")}?wait=30`, "/stress_test/status");
      expect([ended.at("/stress_test/status"), ended.at("/stress_test/error")]).toEqual(["completed", null]);
      const rows = Object(ended.at("/stress_test/result/rows"));
      expect(rows[0].figures.total_return).toBe(result.metrics.total_return);
      expect(rows.filter(({ figures }: Row) => figures !== null).length).toBeGreaterThan(5);
    });
    await t.step(`${name}: its events end with its record`, async () => {
      const events = await (await fetch(`${service.url}${path}/events`, { headers: { cookie: user.cookie } })).text();
      expect(events).toMatch(/event: end\ndata: .*"status":"completed"/);
    });
  }
  await t.step("bounds say what the unknown path within a candle is worth", async () => {
    const { result } = await complete(user, KINDS[1]!);
    const { metrics, bounds } = Object(result);
    expect(metrics.final_equity).toBe(bounds.stop_first.final_equity);
    expect(bounds.target_first.final_equity).toBeGreaterThan(bounds.stop_first.final_equity);
  });
  await t.step("a range without a candle of any member is refused by name", async () => {
    const made = await user.send("POST", "/api/backtests", {
      backtest: { ...KINDS[0], start_date: "2020-01-01", end_date: "2020-02-01" },
    });
    const record = Object((await user.finish(made.at("/backtest/id"))).at("/backtest"));
    expect([record.status, record.error.code, record.error.message]).toEqual(
      ["failed", "NO_DATA", expect.stringContaining("ALDER")],
    );
  });
  await t.step(
    "a long one tells its progress, and ends within a second of its cancellation",
    () => cancel(service, user),
  );
  await t.step("revised candles of a member make it stale", () => revise(service, user));
  await service.close();
});

async function exports(user: User, path: string): Promise<void> {
  for (const list of ["trades", "orders"]) {
    const rows = (await user.get(`${path}/${list}?limit=5`)).list(`/${list}`).map(Object);
    expect([rows.length, rows.every(({ instrument }) => IDS.includes(instrument))]).toEqual([5, true]);
    const csv = await user.get(`${path}/${list}?format=csv`);
    expect(csv.text.split("\n")[0]).toContain("instrument");
    await ofOne(user, `${path}/${list}`, list);
  }
  await ofOne(user, `${path}/holdings`, "holdings", false);
  for (const curve of ["equity", "returns"]) {
    for (const format of ["json", "csv", "arrow"]) {
      const answer = await user.get(`${path}/${curve}?format=${format}`);
      expect([curve, format, answer.status, answer.text.length > 200]).toEqual([curve, format, 200, true]);
    }
  }
}

/** The rows of one instrument: whole, in pages where the list has them, and as a table; and the refusal of one that is not in the run. */
async function ofOne(user: User, path: string, list: string, isPaged = true): Promise<void> {
  const all = (await user.get(path)).list(`/${list}`);
  const own = all.filter((row) => Object(row).instrument === "PINE@SAMPLE");
  expect([own.length > 1, own.length < all.length]).toEqual([true, true]);
  const query = `${path}?instrument=PINE@SAMPLE`;
  expect((await user.get(query)).list(`/${list}`)).toEqual(own);
  if (isPaged) {
    const first = await user.get(`${query}&limit=1`);
    const second = await user.get(`${query}&limit=200&cursor=${first.at("/next_cursor")}`);
    expect([...first.list(`/${list}`), ...second.list(`/${list}`), second.at("/next_cursor")]).toEqual([...own, null]);
  }
  expect((await user.get(`${query}&format=csv`)).text.trimEnd().split("\n").length).toBe(own.length + 1);
  const refused = await user.get(`${path}?instrument=PINES@SAMPLE`);
  expect([refused.status, refused.at("/error/issues/0")]).toEqual([400, {
    path: "/instrument",
    message: 'must be an instrument of the backtest, not "PINES@SAMPLE": did you mean PINE@SAMPLE?',
  }]);
}

async function equal(user: User, request: object, record: Row): Promise<void> {
  const again = await complete(user, request);
  expect([again.reused_from, again.stale]).toEqual([record.id, false]);
  expect(again.result).toEqual(record.result);
  const made = await user.send("POST", `/api/backtests/${record.id}/verify`);
  const verified = Object((await user.finish(made.at("/backtest/id"))).at("/backtest"));
  const differences = await user.get(`/api/backtests/${record.id}/differences?other=${verified.id}`);
  expect([verified.reused_from, differences.at("/equal"), differences.at("/same_data")]).toEqual([null, true, true]);
}

async function simulate(user: User, { id }: Row): Promise<void> {
  for (const method of ["trades", "returns"]) {
    const made = await user.send("POST", "/api/monte-carlo", { monte_carlo: { backtest_id: id, method, runs: 50 } });
    expect([method, made.status]).toEqual([method, 202]);
    const ended = await user.poll(`/api/monte-carlo/${made.at("/monte_carlo/id")}?wait=30`, "/monte_carlo/status");
    expect([ended.at("/monte_carlo/status"), ended.at("/monte_carlo/error")]).toEqual(["completed", null]);
  }
  const candles = await user.send("POST", "/api/monte-carlo", {
    monte_carlo: { backtest_id: id, method: "candles", runs: 50 },
  });
  expect([candles.status, candles.at("/error/issues/0")]).toEqual([400, {
    path: "/monte_carlo/method",
    message: expect.stringContaining("members join, leave and rest on days of their own"),
  }]);
}

/** A script that takes seconds for the minutes of four months. */
async function cancel(service: TestService, user: User): Promise<void> {
  const source = "let sum = 0; strategy(() => ({ decide() { for (let k = 0; k < 3e4; k++) sum += k % 7; } }));";
  const made = await user.send("POST", "/api/backtests", {
    backtest: {
      ...{ ...RUN, symbol: "DEMO", start_date: "2024-01-01", strategy: "slow", fresh: true },
      parameters: {
        timeframe: "1m",
        instruments: [{ symbol: "DEMO", exchange: "SAMPLE" }, { symbol: "COIN", exchange: "LAB" }],
        portfolio: { missing: "skip" },
        runtime: { type: "script", source },
      },
    },
  });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const path = `/api/backtests/${made.at("/backtest/id")}`;
  const headers = { cookie: user.cookie };
  const events = await fetch(`${service.url}${path}/events`, { headers });
  const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!/"progress":0\.\d*[1-9]/.test(text)) {
    const { value, done } = await reader.read();
    expect([done, text]).toEqual([false, text]);
    text += value;
  }
  const begun = performance.now();
  expect((await user.send("POST", `${path}/cancel`)).status).toBe(202);
  expect((await user.finish(made.at("/backtest/id"))).at("/backtest/status")).toBe("cancelled");
  expect(performance.now() - begun).toBeLessThan(1_000);
  await reader.cancel();
}

async function revise(service: TestService, user: User): Promise<void> {
  const own = [{ symbol: "COIN", exchange: "LAB" }, ...instruments];
  const request = { ...KINDS[0]!, parameters: { ...KINDS[0]!.parameters, instruments: own } };
  await importCoin(service, 100);
  const record = await complete(user, request);
  expect(record.stale).toBe(false);
  await importCoin(service, 101);
  expect((await user.get(`/api/backtests/${record.id}`)).at("/backtest/stale")).toBe(true);
  const fresh = await complete(user, request);
  expect([fresh.reused_from, fresh.stale]).toEqual([null, false]);
  expect(Object(fresh.result).run_key).not.toBe(Object(record.result).run_key);
}

/** Imports a hundred days of COIN@LAB at one price. */
async function importCoin(service: TestService, price: number): Promise<void> {
  const first = Date.parse("2023-02-01T00:00:00Z");
  const days = Array.from({ length: 100 }, (_, day) => new Date(first + day * 86_400_000).toISOString().slice(0, 10));
  const answer = await fetch(
    `${service.url}/api/admin/ingestion/import?symbol=COIN&exchange=LAB&assetClass=crypto&timeframe=1d`,
    {
      method: "POST",
      headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
      body: ["date,open,high,low,close,volume", ...days.map((day) => `${day},${price},${price},${price},${price},5`)]
        .join("\n"),
    },
  );
  expect(answer.status).toBe(200);
  await answer.body?.cancel();
}

async function complete(user: User, backtest: object): Promise<Row> {
  const made = await user.send("POST", "/api/backtests", { backtest });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const record = Object((await user.finish(made.at("/backtest/id"))).at("/backtest"));
  expect([record.status, record.error]).toEqual(["completed", null]);
  return record;
}
