/** Optimizations of code of users over many markets, with one account or alone in each: a trial is a backtest. */
import { expect } from "@std/expect";
import { checkTrials } from "../support/check_trials.ts";
import { startTestService } from "../support/service.ts";
import { EXAMPLES, readExample } from "./foreign_code.ts";

const RUN = { symbol: "OAK", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2024-07-01" };
const instruments = ["ALDER", "ASPEN"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
const space = { fast: { values: [3] }, slow: { values: [10, 20] } };

Deno.test("trials of scripts, modules and endpoints over many markets are backtests of their points", async (t) => {
  const endpoint = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { parameters, candles, asked } = await request.json();
    const closes: number[] = candles.close;
    const decisions = closes.map((close, i) => {
      const before = closes[i - parameters.slow] ?? NaN;
      if (close < before) return [{ action: "close" }];
      return close > before ? [{ side: "buy", when: "not_long" }] : [];
    });
    return Response.json({ version: 1, decisions: decisions.slice(-asked) });
  });
  const host = `127.0.0.1:${endpoint.addr.port}`;
  const service = await startTestService("PostgreSQL", { REMOTE_ENDPOINT_ALLOW: host });
  const user = await service.user();
  const runtimes = {
    script: { type: "script", source: await Deno.readTextFile(new URL("../scripts/sma_cross.ts", EXAMPLES)) },
    module: { type: "wasm", artifact: { content_base64: (await readExample("c/sma_cross.wasm")).toBase64() } },
    endpoint: { type: "remote", endpoint: `http://${host}/`, timeoutMs: 60_000, lookbackCandles: 30 },
  };
  for (const [name, runtime] of Object.entries(runtimes)) {
    const request = { ...RUN, strategy: "own", space };
    const parameters = { timeframe: "1d", direction: "both", runtime };
    const tradesOf = (trials: readonly Record<string, unknown>[]) =>
      trials.map(({ error, metrics }) => [error, Object(metrics).trades > 0]);
    await t.step(`${name}: one account over all of them`, async () => {
      const trials = await checkTrials(user, { ...request, parameters: { ...parameters, instruments } });
      expect(tradesOf(trials)).toEqual(Array(2).fill([null, true]));
    });
    await t.step(`${name}: each market alone`, async () => {
      const trials = await checkTrials(user, { ...request, parameters, markets: { instruments } });
      expect(trials.map(({ market }) => market)).toEqual([
        "ALDER@SAMPLE",
        "ALDER@SAMPLE",
        "ASPEN@SAMPLE",
        "ASPEN@SAMPLE",
      ]);
      expect(tradesOf(trials)).toEqual(Array(4).fill([null, true]));
    });
  }
  await service.close();
  await endpoint.shutdown();
});
