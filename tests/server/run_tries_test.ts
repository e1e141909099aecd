import { expect } from "@std/expect";
import postgres from "postgres";
import type { Answer, TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const REQUEST = {
  symbol: "DEMO",
  exchange: "SAMPLE",
  strategy: "SMA Cross",
  start_date: "2024-01-01",
  end_date: "2024-05-01",
  initial_balance: 1000,
};

async function run(user: TestClient, parameters: object, change: object = {}): Promise<Answer> {
  const backtest = { ...REQUEST, ...change, parameters: { timeframe: "4h", ...parameters } };
  const started = await user.send("POST", "/api/backtests", { backtest });
  expect(started.status).toBe(202);
  const ended = await user.finish(started.at("/backtest/id"));
  expect(ended.at("/backtest/error")).toBe(null);
  return ended;
}

const triesOf = async (user: TestClient, backtest: Answer) =>
  Object((await user.get(`/api/backtests/${backtest.at("/backtest/id")}`)).at("/backtest/trials"));

Deno.test("runs that resemble each other count as few tries, and others as many as they are", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const first = await run(user, { fast: 5, slow: 20 });

  await t.step("the same idea at another commission is hardly another try", async () => {
    for (const commission of [0.0001, 0.0002]) await run(user, { fast: 5, slow: 20, execution: { commission } });
    const { backtests, assumed_tries, independent_tries, deflated_sharpe } = await triesOf(user, first);
    expect({ backtests, assumed_tries }).toEqual({ backtests: 3, assumed_tries: 0 });
    expect(independent_tries).toBeGreaterThanOrEqual(1);
    expect(independent_tries).toBeLessThan(1.3);
    const whole = Number(first.at("/backtest/result/metrics/probabilistic_sharpe"));
    expect(deflated_sharpe).toBeLessThanOrEqual(whole);
  });

  await t.step("runs over other days are tries of their own", async () => {
    const before = await triesOf(user, first);
    await run(user, { fast: 5, slow: 20 }, { start_date: "2024-06-01", end_date: "2024-10-01" });
    const after = await triesOf(user, first);
    expect(after).toMatchObject({ backtests: 4, assumed_tries: 0 });
    expect(after.independent_tries - before.independent_tries).toBeGreaterThan(0.6);
    expect(after.independent_tries).toBeLessThanOrEqual(before.independent_tries + 1.2);
    // The same whichever of them is asked, and however often.
    expect(await triesOf(user, first)).toEqual(after);
  });

  await t.step("a run that never trades is hardly a try, and one that is deleted is none", async () => {
    const before = await triesOf(user, first);
    const still = await run(user, { fast: 5, slow: 20, direction: "long" }, { end_date: "2024-01-02" });
    expect((await triesOf(user, first)).independent_tries).toBeLessThan(before.independent_tries + 0.3);
    const path = `/api/backtests/${still.at("/backtest/id")}`;
    expect((await user.send("DELETE", path)).status).toBe(204);
    expect(await triesOf(user, first)).toEqual(before);
  });

  await t.step("a script under a new name is its first try, beside all the others", async () => {
    const { backtests } = await triesOf(user, first);
    const sourceOf = (candle: number) =>
      `strategy(() => ({ decide(i, _, account, orders) { if (i === ${candle}) orders.buy(); } }));`;
    const renamed = (candle: number, strategy: string) =>
      run(user, { runtime: { type: "script", language: "typescript", source: sourceOf(candle) } }, { strategy });
    const named = [await renamed(2, "mine"), await renamed(3, "another name")];
    for (const backtest of named) {
      const trials = await triesOf(user, backtest);
      expect(trials).toMatchObject({ backtests: 1, other_tries: backtests + 1, undefined_figures: {} });
      expect(trials.deflated_sharpe_among_all).toBeLessThan(trials.deflated_sharpe);
      expect(trials.conclusion).toContain(`, beside ${backtests + 1} of other strategies or under other names. `);
    }
    // They are tries beside those of the built-in strategy, too.
    expect(await triesOf(user, first)).toMatchObject({ backtests, other_tries: 2 });
  });

  await t.step("runs without stored days, and more than 500, count as independent", async () => {
    const { independent_tries: compared } = await triesOf(user, first);
    const client = postgres(service.databaseUrl, { max: 1, onnotice() {} });
    // Keys behind those of the runs, which are digests.
    await client`
      insert into backtests (id, owner_id, symbol, exchange, strategy, strategy_slug, start_date, end_date,
        initial_balance, parameters, status, result)
      select gen_random_uuid(), owner_id, symbol, exchange, strategy, strategy_slug, start_date, end_date,
        initial_balance, parameters, status, jsonb_set(result, '{run_key}', to_jsonb('z' || n))
      from backtests, generate_series(1, 600) as n where id = ${String(first.at("/backtest/id"))}`;
    await client.end();
    expect(await triesOf(user, first)).toMatchObject({
      ...{ backtests: 604, assumed_tries: 600, independent_tries: compared + 600 },
      deflated_sharpe: expect.any(Number),
    });
  });
  await service.close();
});
