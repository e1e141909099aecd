/** Optimizations of which every trial is one account over many markets, through REST. */
import { expect } from "@std/expect";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { startTestService, type TestService } from "../support/service.ts";
import { until } from "../support/until.ts";

type User = Awaited<ReturnType<TestService["user"]>>;

const SAMPLE = (symbol: string, dates: object = {}) => ({ symbol, exchange: "SAMPLE", ...dates });
const INSTRUMENTS = [
  SAMPLE("ALDER"),
  SAMPLE("ASPEN"),
  SAMPLE("PINE", { to: "2024-05-18" }),
  SAMPLE("ROWAN", { from: "2023-06-15" }),
];
const OWN = { skip: 5, filter: -1, every: "month", exposure: 1, minTrade: 0 };
const ROTATION = {
  ...{ symbol: "OAK", exchange: "SAMPLE", start_date: "2023-01-01", end_date: "2024-07-01", initial_balance: 10_000 },
  strategy: "Momentum Rotation",
  parameters: { timeframe: "1d", instruments: INSTRUMENTS, ...OWN, execution: { commission: 0.001 } },
  space: { lookback: { values: [20, 60, 120] }, top: { values: [1, 2] } },
};
const CROSS = {
  ...ROTATION,
  strategy: "SMA Cross",
  parameters: {
    ...{ timeframe: "1d", instruments: INSTRUMENTS, portfolio: { positions_max: 3 }, direction: "both" },
    execution: { commission: 0.001 },
  },
  space: { fast: { values: [3, 8] }, slow: { values: [15, 30] } },
};

Deno.test("each trial of an optimization is one account over many markets", async (t) => {
  const service = await startTestService("PostgreSQL");
  const user = await service.user();

  for (const request of [ROTATION, CROSS]) {
    await t.step(`${request.strategy}: a trial equals a backtest of its point`, () => equalTrials(user, request));
  }
  await t.step("a script, also one for all markets, is tried as its built-in twin", () => withScripts(user));
  await t.step("walking forward carries one account from window to window", () => walks(user));
  await t.step("drawn and guided points, a surface, and the luck of tested paths", () => searches(user));
  await t.step("a universe names the markets, and its version stays", () => ofUniverse(user));
  await t.step("what has no meaning, or costs too much, is refused by name", () => refuse(user));
  await t.step("a cancelled one ends within a second", () => cancel(user));
  await service.close();
});

async function equalTrials(user: User, request: object): Promise<void> {
  const id = await submitOptimization(user, request);
  const ended = await finishOptimization(user, id);
  expect(ended.at("/optimization")).toMatchObject({ status: "completed", progress: 1, error: null });
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  expect(trials.length).toBeGreaterThan(3);
  expect(new Set(trials.map(({ metrics }) => metrics.total_return)).size).toBe(trials.length);
  for (const trial of [trials[0]!, trials.at(-1)!]) {
    const backtest = await runTrial(user, id, trial.number);
    expect(JSON.stringify(Object(backtest.result).metrics)).toBe(JSON.stringify(trial.metrics));
    expect(Object(backtest.result).portfolio.contributions.length).toBe(4);
    expect(Object(backtest.trials).conclusion).toMatch(/^One of \d+ tries of this strategy with this benchmark \(/);
  }
  expect(ended.at("/optimization/tries/conclusion")).toContain("tries of this strategy with this benchmark (");
  expect(ended.at("/optimization/luck")).toMatchObject({
    trials: trials.length,
    against_benchmark: { p_value: expect.any(Number) },
  });
}

async function runTrial(user: User, id: string, number: number): Promise<Record<string, unknown>> {
  const started = await user.send("POST", `/api/optimizations/${id}/trials/${number}/backtest`);
  expect([started.status, started.at("/error")]).toEqual([202, undefined]);
  const { status, error, ...record } = Object((await user.finish(started.at("/backtest/id"))).at("/backtest"));
  expect([status, error]).toEqual(["completed", null]);
  return record;
}

async function withScripts(user: User): Promise<void> {
  const read = (path: string) => Deno.readTextFile(new URL(`../../strategies/scripts/${path}.ts`, import.meta.url));
  for (
    const [request, path] of [[ROTATION, "portfolio/momentum_rotation"], [CROSS, "sma_cross"]] as const
  ) {
    const script = { type: "script", source: await read(path) };
    const [own, builtin] = await Promise.all([{ runtime: script }, {}].map(async (more) => {
      const id = await submitOptimization(user, { ...request, parameters: { ...request.parameters, ...more } });
      expect((await finishOptimization(user, id)).at("/optimization")).toMatchObject({
        ...{ status: "completed", error: null, trials: { failed: 0 } },
      });
      const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
      return { id, trials, net: trials.map(({ parameters, metrics }) => [parameters, metrics.total_return]) };
    }));
    expect(own!.net).toEqual(builtin!.net);
    const backtest = await runTrial(user, own!.id, own!.trials[1]!.number);
    expect(JSON.stringify(Object(backtest.result).metrics)).toBe(JSON.stringify(own!.trials[1]!.metrics));
  }
}

async function walks(user: User): Promise<void> {
  const walk = { train_days: 120, test_days: 60 };
  for (const request of [ROTATION, CROSS]) {
    const [carried, flat] = await Promise.all([true, false].map(async (carry) => {
      const id = await submitOptimization(user, { ...request, walk_forward: { ...walk, carry } });
      const ended = await finishOptimization(user, id);
      expect(ended.at("/optimization")).toMatchObject({ status: "completed", error: null });
      return Object(ended.at("/optimization"));
    }));
    expect([carried.out_of_sample.carried, flat.out_of_sample.carried]).toEqual([true, false]);
    expect(carried.windows).toEqual(flat.windows);
    const { days, equity, exposure } = carried.out_of_sample;
    expect([days, equity.length, exposure > 0]).toEqual([
      flat.out_of_sample.days,
      flat.out_of_sample.equity.length,
      true,
    ]);
    expect(carried.out_of_sample.final_equity).not.toBe(flat.out_of_sample.final_equity);
    // The test of a window is a backtest of its dates with the parameters of its training.
    const { test_start, test_end, parameters, out_of_sample } = flat.windows[1];
    const run = await backtest(user, request, { start_date: test_start, end_date: test_end }, parameters);
    expect(run.total_return).toBe(out_of_sample.total_return);
  }
  // Where nothing changes between the windows, one account over all of them is a backtest.
  const id = await submitOptimization(user, { ...ROTATION, space: { lookback: { values: [60] } }, walk_forward: walk });
  const { windows, out_of_sample } = Object((await finishOptimization(user, id)).at("/optimization"));
  expect([windows.length, out_of_sample.carried]).toEqual([7, true]);
  const dates = { start_date: windows[0].test_start, end_date: windows[6].test_end };
  expect((await backtest(user, ROTATION, dates, { lookback: 60 })).final_equity).toBe(out_of_sample.final_equity);
}

/** The metrics of a backtest of an optimization's request. */
async function backtest(user: User, request: typeof ROTATION | typeof CROSS, dates: object, point: object) {
  const { space: _space, parameters, ...rest } = request;
  const body = { ...rest, ...dates, parameters: { ...parameters, ...point } };
  const made = await user.send("POST", "/api/backtests", { backtest: body });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  return Object((await user.finish(made.at("/backtest/id"))).at("/backtest/result/metrics"));
}

async function searches(user: User): Promise<void> {
  for (const [method, trials] of [["random", 4], ["tpe", 5]] as const) {
    const id = await submitOptimization(user, {
      ...{ ...ROTATION, method, trials_max: trials, seed: 3 },
      space: { lookback: { min: 20, max: 120, step: 20 }, top: { min: 1, max: 3, step: 1 } },
    });
    const ended = await finishOptimization(user, id);
    expect(ended.at("/optimization")).toMatchObject({ status: "completed", trials: { done: trials, failed: 0 } });
    expect((await user.get(`/api/optimizations/${id}/surface?x=lookback&y=top`)).status).toBe(200);
    const luck = Object(ended.at("/optimization/luck"));
    expect([luck.days > 300, "tested_paths" in luck]).toEqual([true, true]);
  }
}

async function ofUniverse(user: User): Promise<void> {
  await user.send("POST", "/api/universes", { universe: { slug: "tried", members: INSTRUMENTS } });
  const { instruments: _instruments, ...parameters } = ROTATION.parameters;
  const [listed, named] = await Promise.all([ROTATION.parameters, { ...parameters, universe: "tried" }].map(
    async (chosen) => {
      const id = await submitOptimization(user, { ...ROTATION, parameters: chosen });
      const ended = await finishOptimization(user, id);
      expect(ended.at("/optimization")).toMatchObject({ status: "completed", error: null });
      const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
      return { record: ended, trials: trials.map(({ metrics }) => metrics) };
    },
  ));
  expect(named!.record.at("/optimization/parameters/universe")).toBe("tried@1");
  expect(named!.trials).toEqual(listed!.trials);
}

async function refuse(user: User): Promise<void> {
  const parameters = { ...ROTATION.parameters, instruments: undefined };
  const list = (count: number) => Array.from({ length: count }, (_, i) => SAMPLE(`S${i}`));
  const skip = { missing: "skip" };
  const hours = { start_date: "2014-01-01", end_date: "2020-01-01", trials_max: 1_000_000 };
  const cases = [
    [{ parameters }, "/optimization/parameters/instruments", "Momentum Rotation decides on many markets"],
    [
      { parameters: { ...parameters, instruments: [SAMPLE("ALDER"), SAMPLE("NOWHERE")] } },
      "/optimization/parameters/instruments/1",
      "NOWHERE@SAMPLE is none",
    ],
    [
      { markets: { instruments: INSTRUMENTS } },
      "/optimization/parameters/instruments",
      "cannot be given for a scan: it runs over one market",
    ],
    [
      { parameters, markets: { instruments: INSTRUMENTS } },
      "/optimization/strategy",
      "must be a strategy of one market, and Momentum Rotation decides on many",
    ],
    [
      { space: { ...ROTATION.space, "execution.fill": { values: ["next_open", "close"] } } },
      "/optimization/space/execution.fill",
      "cannot vary for Momentum Rotation",
    ],
    [
      {
        ...{
          ...hours,
          strategy: "SMA Cross",
          space: { fast: { min: 1, max: 100, step: 1 }, slow: { min: 101, max: 200, step: 1 } },
        },
        parameters: { timeframe: "1h", instruments: list(900), portfolio: skip },
      },
      "/optimization/parameters",
      "10000 points in 900 markets of 52584 candles are 473256000000",
    ],
  ] as const;
  for (const [change, path, words] of cases) {
    const refused = await user.send("POST", "/api/optimizations", { optimization: { ...ROTATION, ...change } });
    expect([refused.status, refused.at("/error/issues/0/path"), refused.at("/error/issues/0/message")]).toEqual(
      [400, path, expect.stringContaining(words)],
    );
  }
}

async function cancel(user: User): Promise<void> {
  const id = await submitOptimization(user, {
    ...CROSS,
    space: { fast: { min: 1, max: 100, step: 1 }, slow: { min: 101, max: 200, step: 1 } },
  });
  await until(async () => Number((await user.get(`/api/optimizations/${id}`)).at("/optimization/trials/done")) > 0);
  const begun = performance.now();
  expect((await user.send("POST", `/api/optimizations/${id}/cancel`)).status).toBe(202);
  expect((await finishOptimization(user, id)).at("/optimization/status")).toBe("cancelled");
  expect(performance.now() - begun).toBeLessThan(1000);
}
