/** An optimization over many markets, through the API. */
import { expect } from "@std/expect";
import { DATABASES } from "../support/database.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { blockIn, readPage } from "../support/pages.ts";
import { startTestService, type TestService } from "../support/service.ts";

type User = Awaited<ReturnType<TestService["user"]>>;

const SAMPLE = (symbol: string, dates: object = {}) => ({ symbol, exchange: "SAMPLE", ...dates });
const SCAN = {
  symbol: "STOCK",
  start_date: "2024-01-01",
  end_date: "2025-01-01",
  parameters: { timeframe: "1d", execution: { commission: 0.0005 } },
  space: { fast: { values: [3, 5, 8] }, slow: { values: [15, 30] } },
  // DEMO trades every day, and stocks on trading days. BEECH left in the middle of the year.
  markets: { instruments: [SAMPLE("ALDER"), SAMPLE("DEMO"), SAMPLE("BEECH", { to: "2024-07-01" })] },
};

for (const kind of DATABASES) {
  Deno.test(`a scan tries each point in each market (${kind})`, async (t) => {
    const service = await startTestService(kind);
    const user = await service.user();
    const id = await submitOptimization(user, SCAN);
    const ended = await finishOptimization(user, id);

    await t.step("its trials are points times markets", () => {
      expect(ended.at("/optimization")).toMatchObject({
        ...{ status: "completed", progress: 1, error: null },
        space: { fast: { values: [3, 5, 8] }, slow: { values: [15, 30] } },
        markets: { count: 3, universe: null, missing: "fail", left_out: [] },
        points: { space: 18, tried: 18, done: 18, constrained: 0, refused: 0 },
        trials: { done: 18, failed: 0 },
      });
    });

    const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
    await t.step("each names its market, in lists, tables and the best ten", async () => {
      expect(trials.map(({ market }) => market)).toEqual(
        ["ALDER@SAMPLE", "DEMO@SAMPLE", "BEECH@SAMPLE"].flatMap((market) => Array(6).fill(market)),
      );
      expect(trials.slice(0, 6).map(({ parameters }) => parameters)).toEqual(
        [3, 5, 8].flatMap((fast) => [15, 30].map((slow) => ({ fast, slow }))),
      );
      const sorted = trials.toSorted((a, b) => b.metrics.sharpe - a.metrics.sharpe).slice(0, 10);
      expect(ended.list("/optimization/best")).toMatchObject(
        sorted.map(({ number, market, parameters, metrics }) => ({
          ...{ number, market, parameters },
          objective: metrics.sharpe,
        })),
      );
      const pages = (await user.get(`/api/optimizations/${id}/trials?sort=sharpe&limit=4`)).list("/trials");
      expect(pages).toEqual(sorted.slice(0, 4));
      for (const query of ["", "&sort=sharpe"]) {
        const csv = (await user.get(`/api/optimizations/${id}/trials?format=csv${query}`)).text;
        const [head, first] = csv.split("\n");
        expect(head).toContain("number,market,parameters.fast,parameters.slow,");
        const top = query === "" ? trials[0] : sorted[0];
        expect(first).toContain(`${top.number},${top.market},${top.parameters.fast},${top.parameters.slow},`);
      }
    });

    await t.step("a trial equals a backtest of its market, over the dates of its membership", async () => {
      for (const number of [2, 9, 17]) {
        const started = await user.send("POST", `/api/optimizations/${id}/trials/${number}/backtest`);
        expect(started.status).toBe(202);
        const backtest = await user.finish(started.at("/backtest/id"));
        const trial = trials[number - 1];
        expect(`${backtest.at("/backtest/symbol")}@${backtest.at("/backtest/exchange")}`).toBe(trial.market);
        expect(backtest.at("/backtest/end_date")).toBe(number === 17 ? "2024-07-01" : "2025-01-01");
        expect(JSON.stringify(backtest.at("/backtest/result/metrics"))).toBe(JSON.stringify(trial.metrics));
      }
    });

    await t.step("points are ranked by the median over markets, and markets by the best point", async () => {
      const ranking = Object((await user.get(`/api/optimizations/${id}/ranking`)).at("/ranking"));
      const byPoint = Map.groupBy(trials, ({ parameters }) => JSON.stringify(parameters));
      const expected = [...byPoint].map(([parameters, own]) => {
        const values = own.map(({ metrics }) => metrics.sharpe).sort((a, b) => a - b);
        const earned = own.filter(({ metrics }) => metrics.total_return > 0).length / 3;
        const [worst, median, best] = values;
        return { parameters: JSON.parse(parameters), median, worst, best, earned, markets: 3 };
      }).sort((a, b) => b.median - a.median);
      expect(ranking).toMatchObject({ metric: "sharpe", direction: "max", points_count: 6, points: expected });
      const top = trials.filter(({ parameters }) =>
        JSON.stringify(parameters) === JSON.stringify(expected[0]!.parameters)
      ).sort((a, b) => b.metrics.sharpe - a.metrics.sharpe);
      expect(ranking.markets.map(({ market, at_best_point: at }: Record<string, unknown>) => ({ market, at }))).toEqual(
        top.map(({ market, number, metrics }) => ({ market, at: { number, value: metrics.sharpe } })),
      );
      for (const { market, own_best } of ranking.markets) {
        const own = trials.filter((trial) => trial.market === market);
        const best = own.reduce((a, b) => b.metrics.sharpe > a.metrics.sharpe ? b : a);
        const { number, parameters, metrics } = best;
        expect(own_best).toEqual({ number, parameters, value: metrics.sharpe });
      }
    });

    await t.step("the surface has an axis of markets", async () => {
      const surface = Object((await user.get(`/api/optimizations/${id}/surface?x=fast&y=market`)).at("/surface"));
      expect(surface.y.values).toEqual(["ALDER@SAMPLE", "DEMO@SAMPLE", "BEECH@SAMPLE"]);
      const best = (market: string, fast: number) =>
        Math.max(
          ...trials.filter((each) => each.market === market && each.parameters.fast === fast)
            .map(({ metrics }) => metrics.sharpe),
        );
      expect(surface.values).toEqual(
        surface.y.values.map((market: string) => [3, 5, 8].map((fast) => best(market, fast))),
      );
    });

    await t.step("all trials count into how much is luck, each on the days of its own market", async () => {
      // DEMO trades on all 366 days, and so on each day of a stock.
      expect(ended.at("/optimization/luck")).toMatchObject({
        ...{ trials: 18, trials_considered: 18, days: 366, objective: "sharpe" },
        against_benchmark: { p_value: expect.any(Number) },
      });
      // Their daily returns stand on the days that are compared, 0 after the end of a membership.
      const rows = (await user.get(`/api/optimizations/${id}/returns`)).list("/returns").map(Object);
      const returns = [...Map.groupBy(rows, ({ number }) => number).values()].map((own) =>
        own.map((row) => row.return)
      );
      expect(returns.map(({ length }) => length)).toEqual(trials.map(() => 366));
      const last = returns.filter((_, i) => trials[i].market === "BEECH@SAMPLE").map((own) =>
        own.findLastIndex(Boolean)
      );
      expect(last.every((day) => day > 0 && day < 200)).toBe(true);
    });

    await t.step("without a space, one strategy runs in each market of a universe", () => ofUniverse(user));
    await t.step("an instrument without candles ends the scan, or its own trials", () => withoutCandles(user));
    await t.step("a random choice tries the same points in each market", () => drawn(user));
    await t.step("a script scans as its built-in twin does", () => withScript(user));
    await t.step("the page's request runs", () => asOnThePage(user));
    await t.step("what has no meaning over many markets is refused by name", () => refuse(user));
    await service.close();
  });
}

async function ofUniverse(user: User): Promise<void> {
  const slug = `scan-${crypto.randomUUID().slice(0, 8)}`;
  const members = [SAMPLE("ALDER"), SAMPLE("ASPEN"), SAMPLE("BEECH", { to: "2022-06-01" })];
  const made = await user.send("POST", "/api/universes", {
    universe: { slug, description: "", is_public: false, members },
  });
  expect(made.status).toBe(201);
  const { space: _space, ...batch } = SCAN;
  const id = await submitOptimization(user, {
    ...{ ...batch, space: undefined },
    parameters: { ...SCAN.parameters, fast: 5, slow: 20 },
    markets: { universe: slug },
  });
  const ended = await finishOptimization(user, id);
  expect(ended.at("/optimization")).toMatchObject({
    ...{ status: "completed", error: null, space: {} },
    markets: { count: 2, universe: `${slug}@1`, left_out: ["BEECH@SAMPLE"] },
    trials: { done: 2, failed: 0 },
  });
  const ranking = Object((await user.get(`/api/optimizations/${id}/ranking`)).at("/ranking"));
  expect(ranking.points).toMatchObject([{ parameters: {}, markets: 2 }]);
  expect((await user.send("DELETE", `/api/optimizations/${id}`)).status).toBe(204);
  expect((await user.get(`/api/optimizations/${id}/ranking`)).status).toBe(404);
}

async function withoutCandles(user: User): Promise<void> {
  const instruments = [SAMPLE("ALDER"), SAMPLE("NOWHERE"), SAMPLE("ASPEN")];
  const skipping = await submitOptimization(user, { ...SCAN, markets: { instruments, missing: "skip" } });
  const skipped = await finishOptimization(user, skipping);
  expect(skipped.at("/optimization")).toMatchObject({ status: "completed", trials: { done: 18, failed: 6 } });
  const ranking = Object((await user.get(`/api/optimizations/${skipping}/ranking`)).at("/ranking"));
  expect(ranking.points[0].markets).toBe(2);
  expect(ranking.markets.at(-1)).toMatchObject({ market: "NOWHERE@SAMPLE", at_best_point: null, trials: 6, failed: 6 });
  // Known, and without candles before it joined.
  const late = { start_date: "2023-01-01", end_date: "2023-03-01", markets: { instruments: [SAMPLE("ROWAN")] } };
  const failing = await submitOptimization(user, { ...SCAN, ...late });
  expect((await finishOptimization(user, failing)).at("/optimization")).toMatchObject({
    status: "failed",
    error: { code: "NO_DATA", message: expect.stringContaining("ROWAN") },
  });
}

async function withScript(user: User): Promise<void> {
  const source = await Deno.readTextFile(new URL("../../strategies/scripts/sma_cross.ts", import.meta.url));
  const markets = { instruments: [SAMPLE("ALDER"), SAMPLE("NOWHERE"), SAMPLE("ASPEN")], missing: "skip" };
  const [script, builtin] = await Promise.all([{ runtime: { type: "script", source } }, {}].map(async (more) => {
    const id = await submitOptimization(user, {
      ...SCAN,
      markets,
      parameters: { ...SCAN.parameters, direction: "both", ...more },
    });
    expect((await finishOptimization(user, id)).at("/optimization")).toMatchObject({
      ...{ status: "completed", error: null, trials: { done: 18, failed: 6 } },
    });
    const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
    return trials.map(({ market, parameters, metrics, error }) => ({
      ...{ market, parameters, code: error?.code, trades: metrics?.trades, net: metrics?.total_return },
    }));
  }));
  expect(script).toEqual(builtin);
  expect(script!.filter(({ code }) => code === "NO_DATA").map(({ market }) => market)).toEqual(
    Array(6).fill("NOWHERE@SAMPLE"),
  );
}

/** The page's request, as it stands there. */
async function asOnThePage(user: User): Promise<void> {
  const { optimization } = JSON.parse(blockIn(await readPage("docs/research.md"), "json", '"markets":'));
  const ended = await finishOptimization(user, await submitOptimization(user, optimization));
  expect(ended.at("/optimization")).toMatchObject({
    status: "completed",
    error: null,
    trials: { done: 18, failed: 0 },
  });
}

async function drawn(user: User): Promise<void> {
  const id = await submitOptimization(user, { ...SCAN, method: "random", trials_max: 7, seed: 4 });
  expect((await finishOptimization(user, id)).at("/optimization")).toMatchObject({
    status: "completed",
    points: { space: 18, tried: 6 },
  });
  const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
  const points = Map.groupBy(trials, ({ market }) => market);
  const [first, ...others] = [...points.values()].map((own) => own.map(({ parameters }) => parameters));
  expect(first!.length).toBe(2);
  expect(others).toEqual([first, first]);
}

async function refuse(user: User): Promise<void> {
  const years = { start_date: "2024-01-01", end_date: "2025-01-01" };
  const many = Array.from({ length: 1000 }, (_, i) => SAMPLE(`S${i}`));
  const minutes = { ...years, parameters: { timeframe: "1m" }, trials_max: 1_000_000 };
  const large = { fast: { min: 1, max: 100, step: 1 }, slow: { values: [200] } };
  for (
    const [change, path, words] of [
      [{ method: "tpe" }, "/optimization/method", "cannot be tpe with markets"],
      [{ walk_forward: { train_days: 30, test_days: 10 } }, "/optimization/walk_forward", "beside markets"],
      [{ markets: {} }, "/optimization/markets/instruments", "is required"],
      [
        { markets: { instruments: [SAMPLE("ALDER", { to: "2020-01-01" })] } },
        "/optimization/markets/instruments",
        "has no member between",
      ],
      [
        { markets: { instruments: [SAMPLE("ALDER"), SAMPLE("NOWHERE")] } },
        "/optimization/markets/instruments/1",
        "NOWHERE@SAMPLE is none",
      ],
      [{ trials_max: 17 }, "/optimization/space", "6 points in 3 markets"],
      [{ method: "random", trials_max: 2 }, "/optimization/trials_max", "at least 3"],
      [
        { ...minutes, markets: { instruments: many, missing: "skip" }, space: large },
        "/optimization/markets",
        "are 527040",
      ],
    ] as const
  ) {
    const refused = await user.send("POST", "/api/optimizations", {
      optimization: { ...{ ...SCAN, exchange: "SAMPLE", strategy: "SMA Cross", initial_balance: 1000 }, ...change },
    });
    expect([refused.status, refused.at("/error/issues/0/path"), refused.at("/error/issues/0/message")]).toEqual(
      [400, path, expect.stringContaining(words)],
    );
  }
}
