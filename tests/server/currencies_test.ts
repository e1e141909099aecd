/** Instruments of several currencies in one account, through the API. */
import { expect } from "@std/expect";
import { checkTables } from "./currency_tables.ts";
import { INGESTION_SECRET, startTestService, type TestService } from "../support/service.ts";

type User = Awaited<ReturnType<TestService["user"]>>;

const DAY_MS = 86_400_000;
const FIRST = Date.parse("2024-01-01T00:00:00Z");
const REQUEST = {
  symbol: "DOLLAR",
  exchange: "LAB",
  strategy: "Buy and Hold",
  start_date: "2024-01-01",
  end_date: "2024-01-20",
  initial_balance: 10_000,
};

/** Dollars for a euro on each day from 28 December on; the market of currencies rests on weekends. */
const rateOn = (day: number) => 1.1 + day / 100;
const isWorkday = (day: number) => (((day % 7) + 7) % 7) < 5;

Deno.test("one account holds instruments of several currencies", async (t) => {
  const service = await startTestService("PostgreSQL");
  const user = await service.user();
  await importDays(service, "DOLLAR", "assetClass=crypto&currency=USD", () => 100);
  await importDays(service, "EURO", "assetClass=crypto&currency=EUR", () => 50);
  await importDays(service, "STOCK", "assetClass=stock&currency=EUR", () => 50, { days: isWorkday });
  await importDays(service, "POUND", "assetClass=crypto&currency=GBP", () => 20);
  await importDays(service, "EURUSD", "assetClass=forex", rateOn, { first: -4, days: isWorkday });

  await t.step("the list of instruments says their currency, and an import may not contradict it", () => name(service));
  await t.step("buys and marks at the last close of the pair, by hand", () => byHand(user));
  await t.step("a stock's close does not see the pair's close of the same evening", () => stock(user));
  await t.step("the pair converts the other way round, too", () => inverse(user));
  await t.step("equity is cash and quantity x mark x rate at every mark", () => identity(user));
  await t.step("scripts, in a sandbox, trade several currencies", () => script(user));
  await t.step("what cannot be converted is refused by name", () => refuse(user));
  await t.step("one currency needs no account's, and runs as before", () => one(user));
  await t.step("it is verified, reported, and stale when the pair's candles change", () => revise(service, user));
  await t.step("the sample has euros, which the demonstration's request can hold", () => sample(user));
  await service.close();
});

async function name(service: TestService): Promise<void> {
  const user = await service.user();
  const held = (await user.get("/api/market-data/instruments?search=EUR")).list("/instruments");
  expect(held.map((row) => [Object(row).symbol, Object(row).currency])).toEqual([
    ["EURO", "EUR"],
    ["EURUSD", null],
    ["EURUSD", "USD"],
  ]);
  const refused = await send(service, "symbol=EURO&exchange=LAB&timeframe=1d&currency=USD", "");
  expect([refused.status, (await refused.json()).error.issues]).toEqual([400, [
    { path: "/currency", message: "must be EUR for EURO on LAB, not USD: change the instrument first" },
  ]]);
  const odd = await send(service, "symbol=EURO&exchange=LAB&timeframe=1d&currency=euro", "");
  expect([odd.status, (await odd.json()).error.issues[0].path]).toEqual([400, "/currency"]);
}

async function byHand(user: User): Promise<void> {
  const record = await complete(user, { ...markets("DOLLAR", "EURO"), execution: { baseCurrency: "USD" } });
  const { metrics, data, portfolio, execution, notes } = Object(record.result);
  // Decided at the close of Monday, 1 January, and filled at the open of the 2nd, when the pair's last close is that of the 1st: 5,000
  // dollars buy 5,000 / 1.10 / 50 of EURO. The last mark is the end of Friday the 19th: the pair closed at 1.28 that evening.
  const units = 5000 / rateOn(0) / 50;
  expect(metrics.final_equity).toBeCloseTo(5000 + units * 50 * rateOn(18), 4);
  expect(execution.baseCurrency).toBe("USD");
  expect(data.conversions).toEqual([{
    ...{ currency: "EUR", symbol: "EURUSD", exchange: "LAB", is_inverse: false, timeframe: "1d" },
    // Two before the range: 28 and 29 December.
    ...{ candles: 17, first: "2023-12-28T00:00:00.000Z", last: "2024-01-19T00:00:00.000Z" },
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  }]);
  expect(portfolio.contributions.map(({ currency }: { currency: string }) => currency)).toEqual(["USD", "EUR"]);
  expect(portfolio.contributions[1].pnl).toBeCloseTo(metrics.final_equity - 10_000, 6);
  expect(notes).toContain("EUR counts in USD by the last close of EURUSD@LAB");
}

async function stock(user: User): Promise<void> {
  const record = await complete(user, { ...markets("DOLLAR", "STOCK"), execution: { baseCurrency: "USD" } });
  const curve = await curveOf(user, record);
  const [trade] = (await rowsOf(user, record.id, "trades")).filter(({ instrument }) => instrument === "STOCK@LAB");
  // Decided at the close of Tuesday, 2 January (New Year's Day is a holiday): New York's close of 21:00 comes before the pair's of 22:00.
  const units = trade!.quantity;
  expect(units).toBeGreaterThan(80);
  // Friday's last mark is of DOLLAR, at midnight: then the pair's evening is known.
  const last = curve.at(-1)!;
  expect(last.equity - 10_000).toBeCloseTo(units * 50 * (rateOn(18) - rateOn(dayOf(trade!.entry_time) - 1)), 3);
}

async function inverse(user: User): Promise<void> {
  const record = await complete(user, { ...markets("DOLLAR", "EURO"), execution: { baseCurrency: "EUR" } });
  const { metrics, data } = Object(record.result);
  expect([data.conversions[0].currency, data.conversions[0].is_inverse]).toEqual(["USD", true]);
  // 5,000 euros are 5,500 dollars, or 55 of DOLLAR.
  expect(metrics.final_equity).toBeCloseTo(5000 + 5000 * rateOn(0) / rateOn(18), 4);
}

async function identity(user: User): Promise<void> {
  const record = await complete(user, {
    ...markets("DOLLAR", "EURO"),
    execution: { baseCurrency: "USD", commission: 0.001, spread: 0.002 },
  });
  const trades = await rowsOf(user, record.id, "trades");
  const cash = 10_000 - trades.reduce((sum, { quantity, entry_price, entry_time, instrument }) => {
    const rate = instrument === "EURO@LAB" ? rateOn(dayOf(entry_time) - 1) : 1;
    return sum + quantity * entry_price * 1.001 * rate;
  }, 0);
  const curve = await curveOf(user, record);
  expect(curve.length).toBe(19);
  await checkTables(user, record, curve);
  for (const { timestamp, equity } of curve.slice(2)) {
    const day = dayOf(timestamp);
    const known = isWorkday(day) ? day : day - ((day % 7) - 4);
    const held = trades.reduce(
      (sum, { quantity, instrument }) => sum + quantity * (instrument === "EURO@LAB" ? 50 * rateOn(known) : 100),
      0,
    );
    expect([timestamp, equity]).toEqual([timestamp, expect.closeTo(cash + held, 6)]);
  }
}

async function script(user: User): Promise<void> {
  const source = `portfolio(() => ({ every: "week", decide(now, markets, account, orders) {
    orders.target({ "DOLLAR@LAB": 0.5, "EURO@LAB": 0.5 });
  } }));`;
  const parameters = {
    ...markets("DOLLAR", "EURO"),
    execution: { baseCurrency: "USD" },
    runtime: { type: "script", source },
  };
  const mine = await complete(user, parameters, { strategy: "Mine" });
  const builtin = await complete(user, { ...parameters, runtime: undefined, every: "week" }, {
    strategy: "Equal Weight",
  });
  expect(Object(mine.result).metrics).toEqual(Object(builtin.result).metrics);
  expect(Object(mine.result).integrity.lookahead.status).toBe("passed");
}

async function refuse(user: User): Promise<void> {
  const post = async (parameters: object, backtest: object = {}) => {
    const answer = await user.send("POST", "/api/backtests", {
      backtest: { ...REQUEST, ...backtest, parameters: { timeframe: "1d", ...parameters } },
    });
    return [answer.status, answer.at("/error/issues/0")];
  };
  const path = "/backtest/parameters/execution/baseCurrency";
  expect(await post(markets("DOLLAR", "EURO"))).toEqual([400, {
    path,
    message: "is required: the instruments are quoted in EUR, USD; choose the account's currency",
  }]);
  expect(await post({ ...markets("DOLLAR", "POUND"), execution: { baseCurrency: "USD" } })).toEqual([400, {
    path,
    message: "cannot be converted from GBP into USD: no forex instrument GBPUSD or USDGBP is held; import its candles",
  }]);
  expect(await post({ execution: { baseCurrency: "EUR" } })).toEqual([400, {
    path,
    message: "needs instruments or a universe: an account with one market has its instrument's currency",
  }]);
  expect(await post({ ...markets("DOLLAR"), execution: { baseCurrency: "dollars" } })).toEqual([400, {
    path,
    message: expect.stringContaining("3 to 10 capitals or digits, such as USD"),
  }]);
  // The pair's candles begin on 28 December, and the run before: known when its candles are read.
  const early = await finish(user, { ...markets("DOLLAR", "EURO"), execution: { baseCurrency: "USD" } }, {
    start_date: "2023-12-20",
  });
  expect([early.status, early.error]).toEqual(["failed", {
    code: "NO_DATA",
    message: expect.stringContaining(
      "Cannot convert EUR into USD: EURO@LAB trades from 2023-12-20T00:00:00.000Z on, and the first candle of EURUSD@LAB",
    ),
  }]);
}

async function one(user: User): Promise<void> {
  const plain = Object((await complete(user, markets("EURO", "STOCK"))).result);
  const named = Object(
    (await complete(user, { ...markets("EURO", "STOCK"), execution: { baseCurrency: "EUR" } })).result,
  );
  expect([plain.data.conversions, plain.execution.baseCurrency, named.data.conversions]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(named.metrics).toEqual(plain.metrics);
}

async function revise(service: TestService, user: User): Promise<void> {
  const parameters = { ...markets("DOLLAR", "EURO"), execution: { baseCurrency: "USD" } };
  const record = await complete(user, parameters);
  const again = (await user.send("POST", `/api/backtests/${record.id}/verify`, {})).at("/backtest");
  const verified = await wait(user, String(Object(again).id));
  const differences = await user.get(`/api/backtests/${record.id}/differences?other=${verified.id}`);
  expect([differences.at("/equal"), differences.at("/same_data")]).toEqual([true, true]);
  expect(Object(verified.result).run_key).toBe(Object(record.result).run_key);
  // The result of an equal submission is taken over.
  expect((await complete(user, parameters)).reused_from).not.toBeNull();
  await importDays(service, "EURUSD", "", (day) => rateOn(day) + (day === 10 ? 0.5 : 0), {
    first: -4,
    days: isWorkday,
  });
  const stale = await user.get(`/api/backtests/${record.id}`);
  expect(stale.at("/backtest/stale")).toBe(true);
  const fresh = await complete(user, parameters);
  expect([fresh.reused_from, fresh.stale]).toEqual([null, false]);
  expect(Object(fresh.result).run_key).not.toBe(Object(record.result).run_key);
  expect(Object(fresh.result).data.sha256).not.toBe(Object(record.result).data.sha256);
}

async function sample(user: User): Promise<void> {
  const parameters = {
    instruments: ["OAK", "OLIVE", "POPLAR"].map((symbol) => ({ symbol, exchange: "SAMPLE" })),
    execution: { baseCurrency: "USD" },
    every: "month",
  };
  const request = { symbol: "OAK", exchange: "SAMPLE", start_date: "2023-01-01", end_date: "2024-07-01" };
  const record = await complete(user, parameters, { ...request, strategy: "Equal Weight" });
  expect(Object(record.result).data.conversions[0].symbol).toBe("EURUSD");
}

interface Row {
  readonly instrument: string;
  readonly entry_time: string;
  readonly entry_price: number;
  readonly quantity: number;
}

function markets(...symbols: string[]) {
  return { instruments: symbols.map((symbol) => ({ symbol, exchange: "LAB" })) };
}

function dayOf(time: string): number {
  return Math.floor((Date.parse(time) - FIRST) / DAY_MS);
}

async function finish(user: User, parameters: object, backtest: object = {}) {
  const answer = await user.send("POST", "/api/backtests", {
    backtest: { ...REQUEST, ...backtest, parameters: { timeframe: "1d", ...parameters } },
  });
  expect([answer.status, answer.at("/error/message") ?? null]).toEqual([202, null]);
  return await wait(user, String(answer.at("/backtest/id")));
}

async function wait(user: User, id: string) {
  return Object((await user.get(`/api/backtests/${id}?wait=30`)).at("/backtest"));
}

async function complete(user: User, parameters: object, backtest: object = {}) {
  const record = await finish(user, parameters, backtest);
  expect([record.status, record.error]).toEqual(["completed", null]);
  return record;
}

async function rowsOf(user: User, id: string, list: "trades" | "orders"): Promise<Row[]> {
  return Object((await user.get(`/api/backtests/${id}/${list}`)).at(`/${list}`));
}

async function curveOf(user: User, { id }: { readonly id: string }): Promise<{ timestamp: string; equity: number }[]> {
  return Object((await user.get(`/api/backtests/${id}/equity?limit=1000`)).at("/equity"));
}

/** Imports days whose prices are all the same within the day. */
async function importDays(
  service: TestService,
  symbol: string,
  more: string,
  priceOf: (day: number) => number,
  { first = 0, days = () => true }: { readonly first?: number; readonly days?: (day: number) => boolean } = {},
): Promise<void> {
  const begin = more.includes("crypto") ? -20 : first;
  const lines = Array.from({ length: 60 }, (_, n) => begin + n).filter(days).map((day) => {
    const price = priceOf(day);
    return `${new Date(FIRST + day * DAY_MS).toISOString().slice(0, 10)},${price},${price},${price},${price},1000`;
  });
  const answer = await send(
    service,
    `symbol=${symbol}&exchange=LAB&timeframe=1d&${more}`,
    ["date,open,high,low,close,volume", ...lines].join("\n"),
  );
  expect([symbol, answer.status]).toEqual([symbol, 200]);
  await answer.body?.cancel();
}

async function send(service: TestService, query: string, body: string): Promise<Response> {
  return await fetch(`${service.url}/api/admin/ingestion/import?${query}`, {
    method: "POST",
    headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
    body,
  });
}
