import { expect } from "@std/expect";
import { resolveExecution } from "../../engine/execution.ts";
import { addCost, listChangedRuns, measureTick } from "../../research/stress/changed_runs.ts";
import { leaveOut, measureRegimes } from "../../research/stress/days.ts";

const DAY_MS = 86_400_000;
const SCHEMA = {
  properties: {
    fast: { type: "integer", minimum: 1 },
    slow: { type: "integer", minimum: 2, maximum: 100 },
    factor: { type: "number" },
    share: { type: "number", multipleOf: 0.05 },
    side: { type: "string" },
  },
};
const OWN = { fast: 1, slow: 100, factor: 2.5, share: 0.3, side: "long", unknown: 7 };
const MARKET = { tick: 0.5, price: 100 };

const namesOf = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name);

Deno.test("each change is listed once, in words, where the schema allows it", () => {
  const execution = resolveExecution({ commission: 0.001 }, "crypto");
  expect(namesOf(listChangedRuns({ execution, own: OWN }, SCHEMA, MARKET))).toEqual([
    "As it ran",
    "Without costs",
    "Costs x 2",
    "Costs x 4",
    "Orders reach the market a candle later",
    "Fills a tick worse (0.5)",
    // 0 and 110 are out of bounds.
    "fast 2 instead of 1",
    "slow 90 instead of 100",
    "factor 2.25 instead of 2.5",
    "factor 2.75 instead of 2.5",
    "share 0.25 instead of 0.3",
    "share 0.35 instead of 0.3",
  ]);
  const free = resolveExecution({}, "crypto");
  expect(namesOf(listChangedRuns({ execution: free, own: OWN }, null, null))).toEqual([
    "As it ran",
    "Orders reach the market a candle later",
  ]);
});

Deno.test("costs are multiplied, and a tick is added to any slippage", () => {
  const changed = (slippage: Parameters<typeof resolveExecution>[0]["slippage"], name: string) => {
    const execution = resolveExecution({ slippage, spread: 0.2, commission: { rate: 0.001, minimum: 3 } }, "crypto");
    return listChangedRuns({ execution, own: {} }, null, MARKET).find((run) => run.name === name)?.execution;
  };
  expect(changed({ bps: 4 }, "Costs x 4")).toMatchObject({
    commission: { rate: 0.004, minimum: 12 },
    // No more than the half of a price.
    spread: 0.5,
    slippage: { bps: 16 },
  });
  expect(changed({ ticks: 3, tickSize: 0.25 }, "Without costs")).toMatchObject({
    commission: { rate: 0, minimum: 0 },
    spread: 0,
    slippage: 0,
  });
  const tick = "Fills a tick worse (0.5)";
  expect(changed(0, tick)?.slippage).toEqual({ ticks: 1, tickSize: 0.5 });
  expect(changed({ ticks: 3, tickSize: 0.25 }, tick)?.slippage).toEqual({ ticks: 5, tickSize: 0.25 });
  // Half a point of 100 is 50 hundredths of a percent.
  expect(changed({ bps: 4 }, tick)?.slippage).toEqual({ bps: 54 });
  expect(changed({ volumeShare: 0.1, impact: 0.25 }, tick)?.slippage).toEqual({ volumeShare: 0.1, impact: 0.255 });
  expect(addCost(resolveExecution({ commission: 0.25 }, null), 0.125).commission.rate).toBe(0.375);
});

Deno.test("a tick is the step of the prices' digits", () => {
  expect(measureTick(Float64Array.of(12.5, 12.25, 13))).toEqual({ tick: 0.01, price: 12.5 });
  expect(measureTick(Float64Array.of(100, 101, 102)).tick).toBe(1);
  expect(measureTick(Float64Array.of(1 / 3)).tick).toBe(1e-8);
});

Deno.test("days, trades and years are left out, and the rest is what is left", () => {
  const start = Date.parse("2023-12-29T00:00:00Z");
  const returns = Float64Array.of(0.1, 0.2, -0.5, 0.3, 0.05, 0.02, 0.01);
  const days = {
    time: returns.map((_, i) => start + i * DAY_MS),
    returns,
    benchmark: Float64Array.of(1, 1, -1, 1, 0, -1, 1),
    periodsPerYear: 365,
    riskFreeRate: 0,
  };
  // The metric does not count the last one, which is open at the end.
  const trades = [5, 40, -10, 30, 20, 10, 8].map((pnl, i) => {
    const entryTime = start + i * DAY_MS + 1;
    return { entryTime, exitTime: i === 6 ? null : entryTime, pnl };
  });
  const rows = leaveOut(days, trades, 1000);
  expect(namesOf(rows)).toEqual([
    "Without the best 5 trades",
    "Without the best 5 days",
    "Without 2023",
    "Without 2024",
  ]);
  const [fewTrades, fewDays, later, earlier] = rows.map(({ figures }) => figures!);
  // 5 and -10 of 1000 are left.
  expect(fewTrades).toEqual({ total_return: -0.005, sharpe: null, max_drawdown: null, trades: 2 });
  // -50 % and 1 % are left.
  expect(fewDays?.total_return).toBeCloseTo(0.5 * 1.01 - 1, 12);
  expect(fewDays?.max_drawdown).toBeCloseTo(0.5, 12);
  expect([later?.total_return, later?.trades]).toEqual([expect.closeTo(1.3 * 1.05 * 1.02 * 1.01 - 1, 12), 3]);
  expect([earlier?.total_return, earlier?.trades]).toEqual([expect.closeTo(1.1 * 1.2 * 0.5 - 1, 12), 3]);
  const regimes = measureRegimes(days, trades);
  expect(regimes.map(({ name, days, figures }) => [name, days, figures.trades])).toEqual([
    ["2023", 3, 3],
    ["2024", 4, 3],
    ["Days on which the benchmark rises", 4, 3],
    ["Days on which it falls or stays", 3, 3],
  ]);
  expect(regimes[3]?.figures.total_return).toBeCloseTo(0.5 * 1.05 * 1.02 - 1, 12);
});

Deno.test("volatility parts the days in thirds by the twenty days before each", () => {
  const benchmark = Float64Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? 1 : -1) * (i + 1));
  const days = {
    time: benchmark.map((_, i) => i * DAY_MS),
    returns: new Float64Array(80).fill(0.001),
    benchmark,
    periodsPerYear: 365,
    riskFreeRate: 0,
  };
  const thirds = measureRegimes(days, []).filter(({ group }) => group === "volatility");
  expect(thirds.map(({ name, days }) => [name, days])).toEqual([
    ["Low volatility of the benchmark", 20],
    ["Middle volatility", 20],
    ["High volatility", 20],
  ]);
});
