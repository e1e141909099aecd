/** Runs over many markets with one account, through the API. */
import { expect } from "@std/expect";
import { prepare } from "../support/prepare.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";
import { BACKTEST } from "../support/client.ts";
import { blockIn, readPage } from "../support/pages.ts";
import { keepMembers } from "./kept_members_steps.ts";

type User = Awaited<ReturnType<TestService["user"]>>;

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2024-01-01T00:00:00Z");
const REQUEST = {
  symbol: "AAA",
  exchange: "LAB",
  start_date: "2024-01-01",
  end_date: "2024-04-10",
  initial_balance: 10_000,
};

Deno.test("one account runs over many markets", async (t) => {
  const [service] = await Promise.all([startTestService("PostgreSQL"), prepare("console")]);
  const user = await service.user();
  // Prices that a person can follow: AAA rises by 1 a day from 100, BBB falls by 0.5 from 200, CCC stays at 50 and ends early.
  await importDays(service, "AAA", (day) => 100 + day, 100);
  await importDays(service, "BBB", (day) => 200 - day / 2, 100);
  await importDays(service, "CCC", () => 50, 40);

  await t.step(
    "half in each of two by hand: weights, contributions and the account's profit",
    () => equalWeights(user),
  );
  await t.step("a strategy of one market runs once a market, with an equal part for each", () => each(user));
  await t.step(
    "a member is entered while it is one, and closed where its candles end before it left",
    () => leave(user),
  );
  await t.step("one instrument gives the trades and metrics of a run over one market", () => sameAsOne(user));
  await t.step("a universe names the members, and its version stays with the run", () => ofUniverse(user));
  await t.step(
    "a run keeps its members when the universe is deleted, also to be verified",
    () => keepMembers(service, REQUEST),
  );
  await t.step("the page's request runs", () => asOnThePage(user));
  await t.step("what cannot be run is refused by name", () => refuse(user));
  await t.step("it is reported, compared, simulated by trades and returns, and verified", () => after(user));
  await service.close();
});

/** The page's request, as it stands there. */
async function asOnThePage(user: User): Promise<void> {
  const page = await readPage("docs/portfolios.md");
  const { backtest } = JSON.parse(blockIn(page, "json", '"instruments":'));
  const record = await complete(user, backtest);
  expect(Object(record.result).portfolio.contributions.length).toBeGreaterThan(0);
}

async function equalWeights(user: User): Promise<void> {
  const record = await complete(user, {
    strategy: "Equal Weight",
    parameters: { ...markets("AAA", "BBB"), every: "quarter" },
  });
  const { metrics, portfolio, data } = Object(record.result);
  // Decided at the close of 1 January, filled at the open of the 2nd: 5,000 buy 5,000 / 101 of AAA and 5,000 / 199.5 of BBB. The second
  // quarter begins on 1 April, day 91: the weights are set again at the open of day 92.
  const [a1, b1] = [5000 / 101, 5000 / 199.5];
  const at92 = a1 * 192 + b1 * 154;
  const [a2, b2] = [at92 / 2 / 192, at92 / 2 / 154];
  expect(metrics.final_equity).toBeCloseTo(a2 * 199 + b2 * 150.5, 3);
  expect([data.candles, data.first, data.last]).toEqual([100, "2024-01-01T00:00:00.000Z", "2024-04-09T00:00:00.000Z"]);
  expect(portfolio.contributions.map(({ instrument }: { instrument: string }) => instrument)).toEqual([
    "AAA@LAB",
    "BBB@LAB",
  ]);
  const [first, second] = portfolio.contributions;
  expect(first.pnl + second.pnl).toBeCloseTo(metrics.final_equity - 10_000, 6);
  expect([first.pnl > 0, second.pnl < 0, first.share + second.share]).toEqual([true, true, expect.closeTo(1, 9)]);
  expect(portfolio.holdings).toMatchObject({ mean: 2 });
  expect(portfolio.exposure.gross).toBeCloseTo(0.99, 2);
  const trades = await rowsOf(user, record.id, "trades");
  expect(new Set(trades.map(({ instrument }) => instrument))).toEqual(new Set(["AAA@LAB", "BBB@LAB"]));
  expect(trades.map(({ entry_price }) => entry_price)).toEqual(expect.arrayContaining([101, 199.5]));
  const orders = await rowsOf(user, record.id, "orders");
  expect(orders.every(({ instrument }) => instrument === "AAA@LAB" || instrument === "BBB@LAB")).toBe(true);
  const curve = Object((await user.get(`/api/backtests/${record.id}/equity?limit=1000`)).at("/equity"));
  expect([curve.length, curve.at(-1).equity]).toEqual([100, metrics.final_equity]);
}

async function each(user: User): Promise<void> {
  const record = await complete(user, {
    strategy: "Buy and Hold",
    parameters: { ...markets("AAA", "BBB"), timeframe: "1d" },
  });
  const trades = await rowsOf(user, record.id, "trades");
  // Each half of the equity at its own fill: AAA first, as it is listed.
  expect(trades.map(({ instrument, entry_price }) => [instrument, entry_price])).toEqual([["AAA@LAB", 101], [
    "BBB@LAB",
    199.5,
  ]]);
  expect(trades[0]!.quantity * 101).toBeCloseTo(5000, 3);
  expect(trades[1]!.quantity * 199.5).toBeCloseTo(5000, 3);
  const one = await complete(user, {
    strategy: "Buy and Hold",
    parameters: { ...markets("AAA", "BBB"), timeframe: "1d", portfolio: { positions_max: 1 } },
  });
  expect((await rowsOf(user, one.id, "trades")).map(({ instrument }) => instrument)).toEqual(["AAA@LAB"]);
}

async function leave(user: User): Promise<void> {
  const record = await complete(user, {
    strategy: "Equal Weight",
    parameters: {
      instruments: [
        { symbol: "AAA", exchange: "LAB", from: "2024-02-01" },
        { symbol: "CCC", exchange: "LAB", to: "2024-03-01" },
      ],
      every: "month",
    },
  });
  const trades = await rowsOf(user, record.id, "trades");
  const ofA = trades.filter(({ instrument }) => instrument === "AAA@LAB");
  expect(ofA.every(({ entry_time }) => entry_time >= "2024-02-01")).toBe(true);
  expect(ofA.length).toBeGreaterThan(0);
  const last = trades.filter(({ instrument }) => instrument === "CCC@LAB").at(-1)!;
  // Its last candle is that of 9 February.
  expect([last.exit_reason, last.exit_time, last.exit_price]).toEqual(["delisted", "2024-02-09T00:00:00.000Z", 50]);
}

async function sameAsOne(user: User): Promise<void> {
  const demo = { ...BACKTEST, start_date: "2024-01-01", end_date: "2024-03-01" };
  const own = { timeframe: "1h", fast: 12, slow: 48, execution: { commission: 0.001 } };
  const one = await complete(user, { ...demo, parameters: own });
  const many = await complete(user, {
    ...demo,
    parameters: { ...own, instruments: [{ symbol: "DEMO", exchange: "SAMPLE" }] },
  });
  expect(Object(many.result).metrics).toEqual(Object(one.result).metrics);
  const [single, portfolio] = [await rowsOf(user, one.id, "trades"), await rowsOf(user, many.id, "trades")];
  expect(single.length).toBeGreaterThan(10);
  expect(portfolio.map((trade) => ({ ...trade, instrument: null }))).toEqual(single);
  const refused = await user.get(`/api/backtests/${one.id}/trades?instrument=DEMO@SAMPLE`);
  expect([refused.status, refused.at("/error/issues/0/message")]).toEqual(
    [400, "must be left out: the backtest is over one market"],
  );
}

async function ofUniverse(user: User): Promise<void> {
  const members = ["AAA", "BBB", "NONE"].map((symbol) => ({ symbol, exchange: "LAB" }));
  await user.send("POST", "/api/universes", { universe: { slug: "my-lab", members } });
  const refused = await user.send("POST", "/api/backtests", {
    backtest: { ...REQUEST, strategy: "Equal Weight", parameters: { universe: "my-lab", timeframe: "1d" } },
  });
  expect([refused.status, refused.at("/error/issues/0")]).toEqual([400, {
    path: "/backtest/parameters/universe",
    message: expect.stringContaining('"my-lab@1" lists NONE@LAB is none'),
  }]);
  const record = await complete(user, {
    strategy: "Equal Weight",
    parameters: { universe: "my-lab", portfolio: { missing: "skip" } },
  });
  expect(Object(record.parameters).universe).toBe("my-lab@1");
  expect(Object(record.result).notes).toEqual(expect.arrayContaining([
    "Left out, since no candles are held of them: NONE@LAB",
    expect.stringContaining("survivor"),
  ]));
  expect(Object(record.result).portfolio.contributions).toHaveLength(2);
}

async function refuse(user: User): Promise<void> {
  const refusal = async (body: object) => {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, strategy: "Equal Weight", parameters: {}, ...body },
    });
    return `${answer.status} ${answer.at("/error/issues/0/path")} ${answer.at("/error/issues/0/message")}`;
  };
  const list = (count: number) => Array.from({ length: count }, (_, i) => ({ symbol: `S${i}`, exchange: "X" }));
  expect(await refusal({})).toBe(
    "400 /backtest/parameters/instruments is required, or a universe: Equal Weight decides on many markets",
  );
  expect(await refusal({ parameters: { portfolio: { positions_max: 2 } } })).toContain("is required");
  expect(await refusal({ strategy: "SMA Cross", parameters: { portfolio: {} } })).toContain(
    "needs instruments or a universe",
  );
  expect(await refusal({ parameters: { ...markets("AAA"), universe: "my-lab" } })).toContain("cannot both be given");
  expect(await refusal({ parameters: { instruments: [] } })).toContain("at least 1 entry long");
  expect(await refusal({ parameters: markets("AAA", "AAA") })).toContain(
    "must not overlap another membership of AAA@LAB",
  );
  expect(await refusal({ parameters: { universe: "my-lbb" } })).toMatch(/^404/);
  expect(await refusal({ parameters: { ...markets("AAA", "BBB"), portfolio: { positions_max: 0 } } })).toContain(
    "at least 1",
  );
  expect(await refusal({ strategy: "Pairs", parameters: markets("AAA", "BBB", "CCC") })).toContain(
    "must name 2 instruments for Pairs, not 3",
  );
  expect(await refusal({ parameters: { instruments: list(1_001) } })).toMatch(/^400/);
  expect(
    await refusal({
      strategy: "SMA Cross",
      start_date: "2014-01-01",
      parameters: { timeframe: "1m", instruments: list(200) },
    }),
  )
    .toMatch(/^400/);
  for (
    const [execution, words] of [
      [{ fill: "close" }, 'fill must be next_open for a strategy that decides on many markets, not "close"'],
      [{ sizingPrice: "signal_close" }, "sizingPrice must be fill for"],
      [{ profile: "backtesting.py" }, "exclusive must be opposite or off for"],
    ] as const
  ) {
    const parameters = { ...markets("AAA", "BBB"), execution };
    expect(await refusal({ parameters })).toContain(`400 /backtest/parameters/execution/${words}`);
  }
  const script = { type: "script", source: "strategy(() => ({ decide() {} }))" };
  const many = { strategy: "mine", parameters: { timeframe: "1d", instruments: list(201), runtime: script } };
  expect(await refusal(many)).toContain("must name at most 200 instruments for mine, not 201");
  expect(await refusal(many)).toContain("at once takes 1000");
}

async function after(user: User): Promise<void> {
  const body = {
    strategy: "Momentum Rotation",
    parameters: { ...markets("AAA", "BBB", "CCC"), lookback: 10, top: 1, filter: -1 },
  };
  const record = await complete(user, body);
  const report = await user.get(`/api/backtests/${record.id}/report`);
  expect([report.status, report.text.includes("AAA@LAB")]).toEqual([200, true]);
  const simulated = await user.send("POST", "/api/monte-carlo", {
    monte_carlo: { backtest_id: record.id, method: "returns", runs: 50 },
  });
  expect(simulated.status).toBe(202);
  const candles = await user.send("POST", "/api/monte-carlo", {
    monte_carlo: { backtest_id: record.id, method: "candles", runs: 50 },
  });
  expect([candles.status, candles.at("/error/message")]).toEqual([
    400,
    expect.stringContaining("the backtest has many"),
  ]);
  const verified = await user.send("POST", `/api/backtests/${record.id}/verify`);
  const again = (await user.get(`/api/backtests/${verified.at("/backtest/id")}?wait=30`)).at("/backtest");
  expect(Object(again).status).toBe("completed");
  const differences = await user.get(`/api/backtests/${Object(again).id}/differences?other=${record.id}`);
  expect(differences.at("/equal")).toBe(true);
  const compared = await user.get(`/api/backtests/compare?ids=${record.id},${Object(again).id}`);
  expect(compared.status).toBe(200);
}

function markets(...symbols: readonly string[]) {
  return { instruments: symbols.map((symbol) => ({ symbol, exchange: "LAB" })) };
}

async function run(user: User, body: object): Promise<Record<string, unknown>> {
  const made = await user.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...body } });
  if (made.status !== 202) throw new Error(`${made.status} ${made.text}`);
  return Object((await user.get(`/api/backtests/${made.at("/backtest/id")}?wait=30`)).at("/backtest"));
}

async function complete(user: User, body: object): Promise<Record<string, unknown> & { readonly id: string }> {
  const record = await run(user, body);
  expect([record.status, record.error]).toEqual(["completed", null]);
  return { ...record, id: String(record.id) };
}

interface Row {
  readonly instrument: string | null;
  readonly entry_time: string;
  readonly entry_price: number;
  readonly exit_time: string | null;
  readonly exit_price: number | null;
  readonly exit_reason: string | null;
  readonly quantity: number;
}

async function rowsOf(user: User, id: string, list: "trades" | "orders"): Promise<Row[]> {
  return Object((await user.get(`/api/backtests/${id}/${list}`)).at(`/${list}`));
}

/** Imports days whose prices are all the same within the day. */
async function importDays(
  service: TestService,
  symbol: string,
  priceOf: (day: number) => number,
  count: number,
): Promise<void> {
  const lines = Array.from({ length: count }, (_, day) => {
    const price = priceOf(day);
    return `${new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10)},${price},${price},${price},${price},1000`;
  });
  const path = `/api/admin/ingestion/import?symbol=${symbol}&exchange=LAB&assetClass=crypto&timeframe=1d`;
  const answer = await fetch(service.url + path, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body: ["date,open,high,low,close,volume", ...lines].join("\n"),
  });
  expect([symbol, answer.status]).toEqual([symbol, 200]);
  await answer.body?.cancel();
}
