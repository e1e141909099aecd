/** A portfolio of one instrument is the run over one market: every built-in strategy, over REST, with candles before the range. */
import { expect } from "@std/expect";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import type { TestClient } from "../support/client.ts";
import { startTestService } from "../support/service.ts";

const REQUEST = {
  ...{ symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-02-01", end_date: "2024-04-01", initial_balance: 10_000 },
};
const INSTRUMENTS = [{ symbol: "DEMO", exchange: "SAMPLE" }];
/** The market rises away from a grid as wide as the default. */
const OWN: Readonly<Record<string, object>> = { grid: { spacing: 0.001 } };
const EXECUTION = { commission: 0.001, spread: 0.0002 };

Deno.test("each built-in strategy over one instrument as a portfolio trades as over one market, byte for byte", async (t) => {
  const service = await startTestService();
  const user = await service.user();
  for (const { slug } of BUILTINS) {
    await t.step(slug, async () => {
      const parameters = { ...OWN[slug], timeframe: "1h", execution: EXECUTION, runtime: { slug } };
      const [one, many] = await Promise.all([
        complete(user, { ...REQUEST, strategy: slug, parameters }),
        complete(user, { ...REQUEST, strategy: slug, parameters: { ...parameters, instruments: INSTRUMENTS } }),
      ]);
      const [{ metrics, undefined_metrics, bounds }, other] = [one.result, many.result];
      expect([other.metrics, other.undefined_metrics, other.bounds]).toEqual([metrics, undefined_metrics, bounds]);
      expect(one.result.portfolio).toBeUndefined();
      expect(other.portfolio.contributions.length).toBe(1);
      for (const list of ["trades", "orders"]) {
        const [alone, shared] = [await textOf(user, one.id, list), await textOf(user, many.id, list)];
        expect(alone.split("\n").length).toBeGreaterThan(2);
        expect(shared).toContain("DEMO@SAMPLE");
        expect(shared.replaceAll("DEMO@SAMPLE", "")).toBe(alone);
      }
      const [alone, shared] = [await textOf(user, one.id, "returns"), await textOf(user, many.id, "returns")];
      expect(shared).toBe(alone);
      expect(await curveOf(user, many.id)).toEqual(await curveOf(user, one.id));
    });
  }
  await service.close();
});

async function complete(user: TestClient, backtest: object) {
  const made = await user.send("POST", "/api/backtests", { backtest });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const record = Object((await user.finish(String(made.at("/backtest/id")))).at("/backtest"));
  expect([record.status, record.error]).toEqual(["completed", null]);
  return record;
}

async function textOf(user: TestClient, id: string, list: string): Promise<string> {
  return (await user.get(`/api/backtests/${id}/${list}?format=csv`)).text;
}

/** The whole curve without its position, which is in units over one market and a fraction of equity over many. */
async function curveOf(user: TestClient, id: string): Promise<string[][]> {
  const text = await textOf(user, id, "equity");
  const [header = "", ...lines] = text.trimEnd().split(/\r?\n/);
  const position = header.split(",").indexOf("position");
  expect(position).toBeGreaterThan(0);
  expect(lines.length).toBeGreaterThan(1_400);
  return [header, ...lines].map((line) => line.split(",").filter((_, n) => n !== position));
}
