/** Requests over many markets that nobody sends in good faith: each is answered with the reason, and soon. */
import { expect } from "@std/expect";
import { startTestService } from "../support/service.ts";

const REQUEST = {
  symbol: "OAK",
  exchange: "SAMPLE",
  strategy: "Equal Weight",
  start_date: "2023-01-01",
  end_date: "2023-07-01",
  initial_balance: 10_000,
};
const OAK = { symbol: "OAK", exchange: "SAMPLE" };
const PINE = { symbol: "PINE", exchange: "SAMPLE" };
const unknown = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ symbol: `NONE${i}`, exchange: "SAMPLE" }));

Deno.test("attacks on portfolios are answered clearly", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  const submit = (more: object) => user.send("POST", "/api/backtests", { backtest: { ...REQUEST, ...more } });
  const refusal = async (more: object) => {
    const answer = await submit(more);
    return [answer.status, answer.at("/error/code"), answer.at("/error/issues/0/message")];
  };
  const run = async (more: object) => {
    const made = await submit(more);
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    return Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
  };

  await t.step("1,000 instruments that do not exist are refused at submit with ten of their names", async () => {
    const begun = performance.now();
    const answer = await submit({ parameters: { timeframe: "1d", instruments: unknown(1_000) } });
    expect([answer.status, answer.at("/error/code")]).toEqual([400, "INVALID_PARAMETERS"]);
    expect(answer.at("/error/issues/0")).toEqual({
      path: "/backtest/parameters/instruments/0",
      message: expect.stringMatching(
        /^must be an instrument that is held or that a feed serves, and NONE0@SAMPLE is none; .*without candles, too: NONE1@SAMPLE, .*NONE10@SAMPLE and 989 more; /,
      ),
    });
    expect(performance.now() - begun).toBeLessThan(2_000);
    const [, , near] = await refusal({
      parameters: { timeframe: "1d", instruments: [OAK, { symbol: "PINEE", exchange: "SAMPLE" }] },
    });
    expect(near).toContain("PINEE@SAMPLE is none; did you mean PINE?");
  });

  await t.step("1,000 instruments of which one exists run without the others, and soon", async () => {
    const begun = performance.now();
    const skipped = await run({
      parameters: { timeframe: "1d", instruments: [OAK, ...unknown(999)], portfolio: { missing: "skip" } },
    });
    expect(performance.now() - begun).toBeLessThan(2_000);
    const none = await run({
      parameters: { timeframe: "1d", instruments: unknown(1_000), portfolio: { missing: "skip" } },
    });
    expect([none.status, none.error.code]).toEqual(["failed", "NO_DATA"]);
    expect(none.error.message).toMatch(
      /^Cannot run on NONE0 of SAMPLE .*too: NONE1@SAMPLE, .*NONE10@SAMPLE and 989 more$/,
    );
    expect([skipped.status, skipped.result?.portfolio.contributions.length]).toEqual(["completed", 1]);
    expect(skipped.result.notes.join()).toContain("NONE9@SAMPLE and 989 more");
  });

  await t.step("1,000 instruments over ten years of minutes: refused with the figure and the limit", async () => {
    const [status, code, message] = await refusal({
      start_date: "2014-01-01",
      end_date: "2024-01-01",
      strategy: "Buy and Hold",
      parameters: { timeframe: "1m", instruments: unknown(1_000) },
    });
    expect([status, code]).toEqual([400, "RANGE_TOO_LARGE"]);
    expect(message).toMatch(/^must be at most 5000000 candles after start_date, not 5258880 \(1m\): shorten /);
    const [, , figures] = await refusal({
      start_date: "2014-01-01",
      end_date: "2024-01-01",
      parameters: { timeframe: "1h", instruments: unknown(1_000) },
    });
    expect(figures).toMatch(/^must make at most 50000000 candles: 1000 instruments of 87648 candles are 87648000; /);
  });

  await t.step(
    "the same times the points of a scan, an optimization and its windows: refused with the figure",
    async () => {
      const decade = { ...REQUEST, start_date: "2014-01-01", end_date: "2024-01-01" };
      const instruments = unknown(1_000);
      const of = async (optimization: object) => {
        const answer = await user.send("POST", "/api/optimizations", { optimization: { ...decade, ...optimization } });
        return [answer.status, answer.at("/error/code"), answer.at("/error/issues/0/message")];
      };
      const minutes = await of({
        markets: { instruments, missing: "skip" },
        parameters: { timeframe: "1m" },
        strategy: "SMA Cross",
      });
      expect(minutes).toEqual([
        400,
        "RANGE_TOO_LARGE",
        expect.stringMatching(/at most 5000000 candles .* not 5258880/),
      ]);
      const scan = await of({
        ...{ strategy: "SMA Cross", markets: { instruments, missing: "skip" }, parameters: { timeframe: "1h" } },
        space: { fast: { min: 2, max: 31, step: 1 }, slow: { min: 40, max: 59, step: 1 } },
        trials_max: 600_000,
      });
      expect(scan).toEqual([
        400,
        "RANGE_TOO_LARGE",
        expect.stringMatching(
          /^must make at most 50000000000 candles: 600 points in 1000 markets of 87648 candles are 52588800000; take /,
        ),
      ]);
      const space = { exposure: { min: 0.001, max: 1, step: 0.001 }, minTrade: { values: [0, 0.1] } };
      const parameters = { timeframe: "1d", instruments, portfolio: { missing: "skip" } };
      const hours = await of({ space, parameters: { ...parameters, timeframe: "1h" } });
      expect(hours).toEqual([
        400,
        "RANGE_TOO_LARGE",
        expect.stringMatching(/1000 instruments of 87648 candles are 87648000/),
      ]);
      const account = await of({
        space: { ...space, exposure: { min: 0.00005, max: 1, step: 0.00005 } },
        parameters,
        method: "grid",
        trials_max: 40_000,
      });
      expect(account).toEqual([
        400,
        "RANGE_TOO_LARGE",
        expect.stringMatching(
          /40000 points in 1000 markets of 3652 candles are 146080000000; take /,
        ),
      ]);
      const walk_forward = { train_days: 1_000, test_days: 50, carry: false };
      const windows = await of({ space, parameters, walk_forward, method: "grid", trials_max: 200_000 });
      expect(windows).toEqual([
        400,
        "RANGE_TOO_LARGE",
        expect.stringMatching(
          /2000 points in 1000 markets of 3652 candles, 14\.\d times in walk-forward windows, are \d{12}; take /,
        ),
      ]);
    },
  );

  await t.step("dates in the wrong order and memberships that overlap are refused at their place", async () => {
    const dated = (from?: string, to?: string) => ({ ...OAK, ...(from && { from }), ...(to && { to }) });
    const places = [
      [[PINE, dated("2023-05-01", "2023-02-01")], "must have a from before its to, 2023-02-01, not 2023-05-01"],
      [[dated("2023-02-01", "2023-02-01")], "must have a from before its to, 2023-02-01, not 2023-02-01"],
      [[dated(undefined, "2023-03-01"), dated("2023-02-01")], "must not overlap another membership of OAK@SAMPLE"],
    ] as const;
    for (const [instruments, words] of places) {
      const [status, code, message] = await refusal({ parameters: { timeframe: "1d", instruments } });
      expect([status, code, message]).toEqual([400, "VALIDATION_FAILED", expect.stringContaining(words)]);
    }
    const reversed = await refusal({
      start_date: "2023-07-01",
      end_date: "2023-01-01",
      parameters: { timeframe: "1d", instruments: [OAK] },
    });
    expect(reversed[0]).toBe(400);
    // A member from after the range is left out, and a run needs one.
    const record = await run({ parameters: { timeframe: "1d", instruments: [dated("2024-01-01")] } });
    expect(record.error).toMatchObject({
      code: "NO_DATA",
      message: expect.stringContaining("no instrument is a member"),
    });
  });

  await t.step("weights that are no weights end with words, never with a curve that is no number", async () => {
    const answers: string[] = [];
    for (
      const weights of [
        "OAK NaN",
        "OAK 1e308, PINE 1e308",
        "OAK -5",
        "OAK Infinity",
        "OAK 0.5, OAK 0.6",
        "OAK 0.5, PINEE 0.5",
        "x".repeat(5_000),
      ]
    ) {
      const made = await submit({
        strategy: "Fixed Weights",
        parameters: { timeframe: "1d", instruments: [OAK, PINE], weights },
      });
      if (made.status !== 202) {
        answers.push(`${made.status} ${made.at("/error/code")}`);
        continue;
      }
      const record = Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
      answers.push(`${record.status} ${record.error?.code ?? Number.isFinite(record.result.metrics.final_equity)}`);
    }
    // A short position of five times the equity cannot be opened, which its orders say.
    expect(answers).toEqual([
      ...["400 INVALID_PARAMETERS", "400 INVALID_PARAMETERS", "completed true"],
      ...Array(4).fill("400 INVALID_PARAMETERS"),
    ]);
    const [, , named] = await refusal({
      strategy: "Fixed Weights",
      parameters: { timeframe: "1d", instruments: [OAK, PINE], weights: "OAK 0.5, PINEE 0.5" },
    });
    expect(named).toBe(
      "must name instruments of the run: 0 are called PINEE; there are OAK@SAMPLE, PINE@SAMPLE",
    );
    // An instrument without candles is skipped when the run begins, and its weight with it has no meaning.
    const skipped = await run({
      strategy: "Fixed Weights",
      parameters: {
        timeframe: "1d",
        instruments: [OAK, ...unknown(1)],
        weights: "NONE0 1",
        portfolio: { missing: "skip" },
      },
    });
    expect(skipped.error).toEqual({
      code: "STRATEGY_FAILED",
      message: "Cannot run: weights must name instruments of the run: 0 are called NONE0; there are OAK@SAMPLE",
    });
  });
  await service.close();
});
