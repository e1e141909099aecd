import { expect } from "@std/expect";
import { tableFromIPC } from "apache-arrow";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { startTestService } from "../support/service.ts";
import { until } from "../support/until.ts";

const AXIS = { min: 5, max: 20, step: 5 };
/** Requests that are refused: the change, where the issue points, and what it says. */
const REFUSED: readonly (readonly [change: object, path: string, message: RegExp])[] = [
  [{ space: { fastt: AXIS } }, "/space/fastt", /not a known parameter; there are "fast".*did you mean fast/],
  [
    { space: JSON.parse('{"__proto__":{"values":[1]},"fast":{"values":[5]}}') },
    "/space/__proto__",
    /cannot be the name/,
  ],
  [{ space: { ["p".repeat(201)]: AXIS } }, "/space", /names of at most 200 characters, not 201/],
  [{ space: { fast: { values: Array(33_000).fill(5) } } }, "/space", /at most 65536 bytes, not 66021/],
  [{ space: {} }, "/space", /at least one parameter/],
  [{ space: { fast: 5 } }, "/space/fast", /must be \{"min", "max", "step"\} or \{"values"\}/],
  [{ space: { timeframe: { values: ["1h"] } } }, "/space/timeframe", /fixed in parameters/],
  [{ space: { fast: { ...AXIS, step: 0 } } }, "/space/fast/step", /more than 0/],
  [{ space: { fast: { ...AXIS, min: 21 } } }, "/space/fast/min", /above max/],
  [{ space: { fast: { ...AXIS, min: null } } }, "/space/fast/min", /must be a number/],
  [{ space: { fast: { ...AXIS, step: 0.5 } } }, "/space/fast/step", /integer/],
  [{ space: { fast: { ...AXIS, min: 0 } } }, "/space/fast/min", /at least 1/],
  [{ space: { direction: { values: ["up"] } } }, "/space/direction/values/0", /must be one of/],
  [{ space: { fast: { values: [] } } }, "/space/fast/values", /at least one/],
  [{ space: { fast: AXIS }, parameters: { fast: 3 } }, "/space/fast", /fixed/],
  [
    { space: { fast: { min: 1, max: 2000, step: 1 }, slow: { min: 2, max: 2001, step: 1 } } },
    "/space",
    /4000000 points/,
  ],
  [{ trials_max: 1_000_001 }, "/trials_max", /at most 1000000/],
  [{ method: "tpe", trials_max: 2001 }, "/trials_max", /at most 2000 with the method tpe/],
  [{ trials_max: 11 }, "/space", /12 points.*raise trials_max to 12/],
  [{ space: { fast: { min: 1, max: 1e6, step: 1 } }, trials_max: 1e6 }, "/space/fast/max", /at most 10000/],
  [{ trials_max: 0 }, "/trials_max", /at least 1/],
  [{ method: "grit" }, "/method", /did you mean grid/],
  [{ direction: "up" }, "/direction", /"max", "min"/],
  [{ seed: -1 }, "/seed", /at least 0/],
  [{ constraints: [5] }, "/constraints/0", /type string/],
  [{ constraints: Array(21).fill("fast < slow") }, "/constraints", /at most 20/],
  [{ constraints: [`fast < slow${" ".repeat(190)}`] }, "/constraints/0", /at most 200/],
  [
    { constraints: Array(10).fill(`slow > 0${"+1".repeat(20)}`) },
    "/constraints",
    /at most 200 names and numbers in all, not 220/,
  ],
  [{ constraints: ["fast <"] }, "/constraints/0", /where the text ends/],
  [{ constraints: ["fast / 0 > 1"] }, "/constraints/0", /divide by zero/],
  [{ constraints: ["quick < slow"] }, "/constraints/0", /no numeric parameter/],
  [{ constraints: ["fast > slow", "slow > fast"] }, "/constraints", /leave no point: all 12/],
  [{ objective: "sharp" }, "/objective", /did you mean sharpe/],
  [{ objective: "trades" }, "/direction", /is required with the objective trades/],
  [{ parameters: { stopLossLevel: -1 } }, "/parameters/stopLossLevel", /at least 0/],
  [{ parameters: { execution: { commission: -2 } } }, "/parameters/execution/commission", /at least/],
  [{ start_date: "2024-03-01" }, "/start_date", /must be before/],
  [{ strategy: "SMA Crossing" }, "/strategy", /must be the name/],
  [
    { walk_forward: { train_days: 25, test_days: 7 } },
    "/walk_forward/train_days",
    /need 32 days, and the range has 31/,
  ],
  [{ walk_forward: { train_days: 7, test_days: 7, step_days: 0 } }, "/walk_forward/step_days", /at least 1/],
  [{ walk_forward: { train_days: 7, test_days: 7, step_days: 6 } }, "/walk_forward/step_days", /would overlap/],
  [{ walk_forward: { train_days: NaN, test_days: 7 } }, "/walk_forward/train_days", /./],
  [{ walk_forward: { train_days: 7, test_days: 1.5 } }, "/walk_forward/test_days", /integer/],
  [{ walk_forward: { train_days: 7, test_days: 7, anchor: true } }, "/walk_forward/anchor", /not a known key/],
  [
    { walk_forward: { train_days: 7, test_days: 1 }, end_date: "2024-12-31" },
    "/walk_forward",
    /358 windows, and at most 200/,
  ],
  [
    { walk_forward: { train_days: 7, test_days: 7 }, trials_max: 35 },
    "/walk_forward",
    /3 windows of 12 points, 36 trials/,
  ],
  [{ walk: 1 }, "/walk", /not a known key/],
];

Deno.test("optimizations are refused, followed, cancelled and deleted", async (t) => {
  const service = await startTestService("PostgreSQL", { WORKERS: "2", USER_OPTIMIZATIONS_MAX: "2" });
  const user = await service.user();

  await t.step("each wrong part of a request is named by its JSON pointer", async () => {
    for (const [change, path, message] of REFUSED) {
      const answer = await user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...change } });
      expect([change, answer.status, answer.at("/error/issues/0/path")]).toEqual([change, 400, `/optimization${path}`]);
      expect(String(answer.at("/error/issues/0/message"))).toMatch(message);
    }
  });

  await t.step("a repeated Idempotency-Key gets the first record, and another request with it is refused", async () => {
    const send = (change: object) =>
      user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...change } }, {
        "idempotency-key": "once",
      });
    const [first, again, other] = [await send({}), await send({}), await send({ seed: 1 })];
    expect(again.at("/optimization/id")).toBe(first.at("/optimization/id"));
    expect([other.status, other.at("/error/code")]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
    await finishOptimization(user, String(first.at("/optimization/id")));
  });

  await t.step("trials are sorted, paged, and given as CSV and Arrow", async () => {
    const id = await submitOptimization(user);
    await finishOptimization(user, id);
    const path = `/api/optimizations/${id}/trials`;
    const all = (await user.get(`${path}?sort=total_return&order=asc`)).list("/trials").map(Object);
    const returns = all.map(({ metrics }) => metrics.total_return);
    expect(returns).toEqual(returns.toSorted((a, b) => a - b));
    const paged: unknown[] = [];
    for (let cursor = ""; cursor !== "null";) {
      const page = await user.get(`${path}?sort=total_return&order=asc&limit=3${cursor}`);
      paged.push(...page.list("/trials"));
      cursor = page.at("/next_cursor") === null ? "null" : `&cursor=${page.at("/next_cursor")}`;
    }
    expect(paged).toEqual(all);
    const csv = (await user.get(`${path}?format=csv`)).text.trim().split("\n");
    expect([csv[0]?.slice(0, 47), csv.length]).toEqual([
      "number,parameters.fast,parameters.slow,duration",
      all.length + 1,
    ]);
    for (
      const [query, at, message] of [
        ["sort=sharpest", "/sort", /did you mean sharpe/],
        ["sort=__proto__", "/sort", /must be one of/],
        ["sort=start", "/sort", /must be one of/],
        ["sort=cagr&limit=2&cursor=c2hhcnBlIGRlc2MgMSAx", "/cursor", /next_cursor of an earlier answer/],
      ] as const
    ) {
      const refused = await user.get(`${path}?${query}`);
      expect([query, refused.status, refused.at("/error/issues/0/path")]).toEqual([query, 400, at]);
      expect(String(refused.at("/error/issues/0/message"))).toMatch(message);
    }
    const arrow = await fetch(`${service.url}${path}?format=arrow`, { headers: { cookie: user.cookie } });
    const table = tableFromIPC(new Uint8Array(await arrow.arrayBuffer()));
    expect([...table.getChild("sharpe") ?? []].length).toBe(all.length);
  });

  await t.step("a surface has the best of the trials in each cell, and null where none is", async () => {
    const id = await submitOptimization(user, {
      space: { ...OPTIMIZATION.space, direction: { values: ["long", "both"] } },
    });
    await finishOptimization(user, id);
    const trials = (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
    const surface = (await user.get(`/api/optimizations/${id}/surface?x=slow&y=fast&metric=cagr&reduce=max`)).at(
      "/surface",
    );
    const { values, counts } = Object(surface);
    [5, 10, 15, 20].forEach((fast, row) =>
      [10, 20, 40].forEach((slow, column) => {
        const found = trials.filter(({ parameters }) => parameters.fast === fast && parameters.slow === slow)
          .map(({ metrics }) => metrics.cagr);
        expect([fast, slow, values[row][column]]).toEqual([fast, slow, found.length === 0 ? null : Math.max(...found)]);
        expect(counts[row][column]).toBe(found.length);
      })
    );
    const wrong = await user.get(`/api/optimizations/${id}/surface?x=slow&y=fats`);
    expect([wrong.status, wrong.at("/error/issues/0/path")]).toEqual([400, "/y"]);
  });

  await t.step(
    "random points are as many as asked for, the same for the same seed, and satisfy the constraints",
    async () => {
      const run = async (seed: number) => {
        const space = { fast: { min: 1, max: 300, step: 1 }, slow: { min: 2, max: 300, step: 1 } };
        const more = { space, method: "random", trials_max: 15, seed, constraints: ["slow - fast >= 10"] };
        const id = await submitOptimization(user, more);
        await finishOptimization(user, id);
        return (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object)
          .map(({ parameters: { fast, slow } }) => [fast, slow]);
      };
      const [one, same, other] = [await run(1), await run(1), await run(2)];
      expect(one.length).toBe(15);
      expect(one.every(([fast, slow]) => slow - fast >= 10)).toBe(true);
      expect(same).toEqual(one);
      expect(other).not.toEqual(one);
    },
  );

  await t.step("each training of a random or guided choice tries what an optimization of its dates tries", async () => {
    const space = { fast: { min: 1, max: 60, step: 1 }, slow: { min: 61, max: 120, step: 1 } };
    for (const method of ["random", "tpe"]) {
      const change = { space, method, trials_max: 45, seed: 5 };
      const walk_forward = { train_days: 14, test_days: 7 };
      const walked = await finishOptimization(user, await submitOptimization(user, { ...change, walk_forward }));
      expect(walked.at("/optimization")).toMatchObject({
        status: "completed",
        progress: 1,
        points: { tried: 45, done: 45 },
        trials: { done: 45, failed: 0 },
        out_of_sample: { windows: 2, days: 14 },
      });
      for (const window of walked.list("/optimization/windows").map(Object)) {
        const dates = { start_date: window.train_start, end_date: window.train_end };
        const alone = await finishOptimization(user, await submitOptimization(user, { ...change, ...dates }));
        expect([method, window.parameters, window.in_sample.objective]).toEqual([
          method,
          alone.at("/optimization/best/0/parameters"),
          alone.at("/optimization/best/0/objective"),
        ]);
        expect([window.error, window.out_of_sample.objective]).toEqual([null, expect.any(Number)]);
      }
    }
  });

  await t.step(
    "a long one holds up no backtest, belongs to its owner alone, and is cancelled with what it has",
    async () => {
      const long = {
        start_date: "2024-01-01",
        end_date: "2024-07-01",
        parameters: { timeframe: "1h" },
        space: { fast: { min: 1, max: 400, step: 1 }, slow: { min: 401, max: 900, step: 1 } },
        trials_max: 1_000_000,
      };
      const [id, other] = [await submitOptimization(user, long), await submitOptimization(user, long)];
      const full = await user.send("POST", "/api/optimizations", { optimization: { ...OPTIMIZATION, ...long } });
      expect([full.status, full.at("/error/code")]).toEqual([429, "QUOTA_EXCEEDED"]);
      // Both have begun: users' turns are those of their optimizations, too.
      for (const each of [id, other]) {
        await until(async () =>
          Number((await user.get(`/api/optimizations/${each}`)).at("/optimization/trials/done")) > 0
        );
      }
      const backtest = {
        ...OPTIMIZATION,
        space: undefined,
        parameters: { timeframe: "1h" },
        start_date: "2024-01-01",
        end_date: "2024-01-08",
      };
      const started = await user.send("POST", "/api/backtests", { backtest });
      expect((await user.finish(started.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
      expect((await user.get(`/api/optimizations/${id}`)).at("/optimization/status")).toBe("running");

      const stranger = await service.user();
      const theirs = await stranger.send("POST", "/api/backtests", { backtest });
      expect((await stranger.finish(theirs.at("/backtest/id"))).at("/backtest/status")).toBe("completed");
      expect((await user.get(`/api/optimizations/${id}`)).at("/optimization/status")).toBe("running");
      for (const path of ["", "/trials", "/surface?x=fast", "/events"]) {
        expect((await stranger.get(`/api/optimizations/${id}${path}`)).status).toBe(404);
      }
      expect((await stranger.send("POST", `/api/optimizations/${id}/cancel`)).status).toBe(404);
      expect((await stranger.send("DELETE", `/api/optimizations/${id}`)).status).toBe(404);
      expect((await stranger.send("POST", `/api/optimizations/${id}/trials/1/backtest`)).status).toBe(404);
      const beyond = await user.send("POST", `/api/optimizations/${id}/trials/999999999999999/backtest`);
      expect([beyond.status, beyond.at("/error/code")]).toEqual([404, "TRIAL_NOT_FOUND"]);
      const large = await user.get(`/api/optimizations/${id}/surface?x=fast&y=slow&metric=sharp`);
      expect([large.status, large.at("/error/issues/0/path")]).toEqual([400, "/metric"]);
      expect((await stranger.get("/api/optimizations")).list("/optimizations")).toEqual([]);

      const events = fetch(`${service.url}/api/optimizations/${id}/events`, { headers: { cookie: user.cookie } });
      const cancelled = await user.send("POST", `/api/optimizations/${id}/cancel`);
      expect([cancelled.status, cancelled.at("/optimization/status")]).toEqual([202, "cancelled"]);
      expect(await (await events).text()).toMatch(/event: end\ndata: .*"status":"cancelled"/);
      expect((await user.send("POST", `/api/optimizations/${id}/cancel`)).at("/error/code")).toBe("NOT_CANCELLABLE");
      const done = Number((await user.get(`/api/optimizations/${id}`)).at("/optimization/trials/done"));
      expect(done).toBeGreaterThan(0);
      expect((await user.get(`/api/optimizations/${id}/trials?limit=1`)).list("/trials").length).toBe(1);
      expect((await user.send("DELETE", `/api/optimizations/${other}`)).status).toBe(204);
      expect((await user.get(`/api/optimizations/${other}/trials`)).at("/error/code")).toBe("OPTIMIZATION_NOT_FOUND");
      // Its workers are free for the next one, which they would not be for minutes.
      await finishOptimization(user, await submitOptimization(user));
      expect((await user.get(`/api/optimizations/${id}`)).at("/optimization/trials/done")).toBe(done);
    },
  );
  await service.close();
});
