/// <reference lib="dom" />
/** The sentences about luck, at each door of one service: REST, the console, the terminal and an agent's tools. */
import { expect } from "@std/expect";
import { connectAgent } from "../support/agent.ts";
import { connectBrowser, openPage, shareSession } from "../support/browser.ts";
import { importHours } from "../support/made_markets.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { runTaskCommand } from "../support/process.ts";
import { INGESTION_SECRET, startTestService } from "../support/service.ts";

const HOUR_MS = 3_600_000;
const FIRST = Date.parse("2024-01-01T00:00:00Z");
/** Of a wave that moving averages follow. */
const [HOURS, WAVE_HOURS] = [1_600, 48];
const SPACE = { fast: { values: [2, 3] }, slow: { values: [8, 12] } };
const DATES = { start_date: "2024-01-02", end_date: "2024-03-06" };

const SENTENCES = [
  {
    symbol: "NOISE",
    end_date: "2024-02-20",
    says: /^Too little to tell: the best trial has \d+ closed trades on 49 days/,
  },
  { symbol: "NOISE", says: /^Treat the best trial as luck: without any skill, / },
  { symbol: "WAVE", says: /^Luck alone does not explain the best trial: without any skill, / },
] as const;

/** Imports a wave with a little noise. */
async function importWave(url: string): Promise<void> {
  const priceAt = (hour: number) => 100 * Math.exp(0.05 * Math.sin(2 * Math.PI * hour / WAVE_HOURS) + hour % 7 / 2_000);
  const lines = Array.from({ length: HOURS }, (_, hour) => {
    const [open, close] = [priceAt(hour), priceAt(hour + 1)];
    const prices = [open, Math.max(open, close), Math.min(open, close), close].map((price) => price.toFixed(4));
    return [new Date(FIRST + hour * HOUR_MS).toISOString(), ...prices, 1_000].join(",");
  });
  const answer = await fetch(
    `${url}/api/admin/ingestion/import?symbol=WAVE&exchange=LAB&assetClass=crypto&timeframe=1h`,
    {
      method: "POST",
      headers: { "content-type": "text/csv", "x-ingestion-admin-secret": INGESTION_SECRET },
      body: ["timestamp,open,high,low,close,volume", ...lines].join("\n"),
    },
  );
  expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

Deno.test("the sentences about luck are the same, word for word, at every door", async (t) => {
  const service = await startTestService();
  const browser = await connectBrowser();
  const { page } = await openPage(browser);
  const user = await service.user();
  await Promise.all([
    importHours(service.url, "NOISE", 3),
    importWave(service.url),
    shareSession(page.context(), user),
  ]);
  const made = await user.send("POST", "/api/tokens", { token: { name: "test", scope: "run" } });
  const token = String(made.at("/secret"));
  const agent = await connectAgent(service, token);
  const config = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const env = { HINDCAST_URL: service.url, HINDCAST_TOKEN: token, XDG_CONFIG_HOME: config };

  /** Shows a run at each of the other doors. */
  async function checkDoors(path: string, id: string, sentence: string, ofAgent: unknown) {
    const { stdout } = await runTaskCommand("hindcast", ["show", id], env);
    expect(stdout.replaceAll(/\s+/g, " ")).toContain(sentence);
    expect(ofAgent).toBe(sentence);
    await page.goto(`${service.url}/${path}/${id}`);
    await page.getByText(sentence).waitFor();
  }

  for (const { symbol, says, ...change } of SENTENCES) {
    await t.step(`of an optimization: ${says.source.slice(1, 30)}`, async () => {
      const own = { symbol, exchange: "LAB", ...DATES, ...change, space: SPACE };
      const id = await submitOptimization(user, own);
      const { luck, overfitting, best } = Object((await finishOptimization(user, id)).at("/optimization"));
      expect(luck.conclusion).toMatch(says);
      expect(overfitting.conclusion).toBe(luck.conclusion);
      const read = await agent.call("read_optimization", { id });
      await checkDoors("optimizations", id, luck.conclusion, Object(read.luck).conclusion);
      // So does the tool that makes one.
      const { start_date, end_date, space } = own;
      const market = {
        symbol,
        exchange: "LAB",
        start_date,
        end_date,
        timeframe: "1h",
        execution: { commission: 0.0005 },
      };
      const asked = await agent.call("optimize", { ...market, strategy: "SMA Cross", space });
      expect(Object(asked.luck).conclusion).toBe(luck.conclusion);
      const { tries } = Object((await user.get(`/api/optimizations/${asked.id}`)).at("/optimization"));
      expect(Object(asked.tries).says).toBe(tries.conclusion);

      // Its best trial as a backtest, which is one of these tries.
      const trial = await agent.call("backtest_trial", { id, number: best[0].number });
      const { trials } = Object((await user.get(`/api/backtests/${trial.id}`)).at("/backtest"));
      await checkDoors("runs", String(trial.id), trials.conclusion, Object(trial.tries).says);
    });
  }
  await agent.close();
  await page.context().close();
  await browser.close();
  await service.close();
  await Deno.remove(config, { recursive: true });
});
