/** A portfolio of one instrument is a run over one market, byte for byte. */
import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { runPortfolio } from "../../../engine/portfolio/run_portfolio.ts";
import { run, type RunInput } from "../../../engine/run.ts";
import { BUILTINS } from "../../../strategies/builtin/catalogue.ts";
import { bytesOf } from "../properties/bytes.ts";
import { randomFrom } from "../properties/random.ts";
import { randomRun } from "../properties/random_run.ts";
import { walkMarket } from "./walk_market.ts";

const SEED = 7;
const RUNS = Number(Deno.env.get("PROPERTY_RUNS") ?? 1000);

/** The parts of both results that differ. */
function differences(single: RunInput, again: RunInput): string[] {
  const alone = run(single);
  const portfolio = runPortfolio({
    ...again,
    markets: [{ ...again, id: "A@X", symbol: "A", exchange: "X" }],
    strategy: { kind: "each", strategies: [again.strategy], positionsMax: 1, rank: "listed" },
  });
  const { market: _trades, ...trades } = portfolio.trades;
  const { market: _orders, ...orders } = portfolio.orders;
  const pairs = {
    trades: [alone.trades, trades],
    orders: [alone.orders, orders],
    equity: [alone.equity, portfolio.equity],
    metrics: [alone.metrics, portfolio.metrics],
    reasons: [alone.undefinedMetrics, portfolio.undefinedMetrics],
    bounds: [alone.bounds, portfolio.bounds],
    returns: [alone.dailyReturns, portfolio.dailyReturns],
  };
  return Object.entries(pairs).filter(([, [a, b]]) => bytesOf(a) !== bytesOf(b)).map(([name]) => name);
}

Deno.test(`${RUNS} random runs: every order type, cost, margin and rule`, () => {
  for (let n = 0; n < RUNS; n++) {
    expect({ n, parts: differences(randomRun(SEED, n), randomRun(SEED, n)) }).toEqual({ n, parts: [] });
  }
});

Deno.test("every built-in strategy", () => {
  const candles = walkMarket(randomFrom(3), 6000, 3_600_000);
  for (const builtin of BUILTINS) {
    const properties = Object.entries(builtin.parameter_schema.properties);
    const parameters = Object.fromEntries(properties.map(([name, property]) => [name, property.default]));
    const execution = resolveExecution({ commission: 0.001 }, "crypto");
    const inputOf = () => ({
      candles,
      firstIndex: 50,
      timeframeMs: 3_600_000,
      initialBalance: 10_000,
      execution,
      strategy: builtin.create(parameters, execution),
      control: null,
    });
    expect(run(inputOf()).orders.count).toBeGreaterThan(0);
    expect([builtin.slug, ...differences(inputOf(), inputOf())]).toEqual([builtin.slug]);
  }
});
