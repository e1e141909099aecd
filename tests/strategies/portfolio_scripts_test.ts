/** Portfolio strategies of the catalogue as scripts, in TypeScript and in Python: the same orders, trades and equity as the built-in ones, to the bit. */
import { expect } from "@std/expect";
import { resolveExecution, withPeriodsPerYear } from "../../engine/execution.ts";
import type { PortfolioMarket, PortfolioRequest } from "../../engine/portfolio/portfolio.ts";
import { runPortfolio } from "../../engine/portfolio/run_portfolio.ts";
import { findTimeline } from "../../engine/portfolio/timeline.ts";
import { findPortfolioBuiltin, PORTFOLIO_BUILTINS } from "../../strategies/builtin/portfolio/portfolio_catalogue.ts";
import { compilePython } from "../../workers/sandbox/python/compile.ts";
import { compileScript } from "../../workers/sandbox/script/compile.ts";
import { ScriptPortfolio } from "../../workers/sandbox/script/portfolio.ts";
import { PortfolioGuest } from "../../workers/sandbox/script/portfolio_guest.ts";
import type { CompiledScript } from "../../workers/sandbox/script/realm_guest.ts";
import { openInterpreter } from "../workers/sandbox/python/python_scripts.ts";
import { walkCandles } from "./random_runs.ts";

const DAY_MS = 86_400_000;
const FOLDER = new URL("../../strategies/scripts/portfolio/", import.meta.url);
const PYTHON = new URL("../../strategies/scripts_python/portfolio/", import.meta.url);
const PARAMETERS: Readonly<Record<string, (seed: number) => object>> = {
  "equal-weight": (seed) => ({ every: "week", exposure: 1, minTrade: seed / 1000 }),
  "fixed-weights": (seed) => ({
    weights: seed === 1 ? "" : `M0 0.3, M1@LAB -0.2, M3 0.${seed}`,
    ...{ band: seed / 100, every: "day" },
  }),
  "minimum-variance": (seed) => ({ lookback: 10 + seed, every: "week", exposure: 0.8, minTrade: 0 }),
  pairs: (seed) => ({ lookback: 10 + seed, entry: 1, exit: 0.2, stop: 3, halfLife: 20, exposure: 0.9 }),
  "inverse-volatility": (seed) => ({ lookback: 5 + seed, every: "month", exposure: 0.9, minTrade: 0 }),
  "momentum-rotation": (seed) => ({
    ...{ top: 2, lookback: 10 + seed, skip: seed % 2, filter: -0.5, every: "day", exposure: 1, minTrade: 0 },
  }),
};

/** Five markets, of which one begins late, one ends early and one is a member for a while. */
function markets(seed: number): PortfolioMarket[] {
  return Array.from({ length: 5 }, (_, n) => {
    const all = walkCandles(DAY_MS, seed * 10 + n);
    const [first, end] = [n === 1 ? 40 : 0, n === 2 ? 90 : all.time.length];
    const cut = (values: Float64Array) => values.subarray(first, end);
    const candles = {
      ...{ time: cut(all.time), open: cut(all.open), high: cut(all.high), low: cut(all.low), close: cut(all.close) },
      volume: cut(all.volume),
    };
    const memberships = n === 3 ? [{ from: all.time[20]!, until: all.time[70]! }] : null;
    return { id: `M${n}@LAB`, symbol: `M${n}`, exchange: "LAB", candles, firstIndex: n === 1 ? 0 : 3, memberships };
  });
}

Deno.test("each portfolio strategy of the catalogue is a script, too", () => {
  expect(Object.keys(PARAMETERS).sort()).toEqual(PORTFOLIO_BUILTINS.map(({ slug }) => slug).sort());
});

for (const [slug, parametersOf] of Object.entries(PARAMETERS)) {
  Deno.test(`${slug} as a script trades as the built-in does, to the bit`, async () => {
    const script = await compileScript(await Deno.readTextFile(new URL(`${slug.replaceAll("-", "_")}.ts`, FOLDER)));
    compareWithBuiltin(slug, script, parametersOf);
  });
}

Deno.test("the portfolio strategies in Python trade as the built-in ones do, to the bit", async (t) => {
  const files = [...Deno.readDirSync(PYTHON)].map(({ name }) => name).sort();
  expect(files).toEqual(["equal_weight.py", "fixed_weights.py", "inverse_volatility.py", "momentum_rotation.py"]);
  for (const file of files) {
    await t.step(file, async () => {
      const slug = file.replace(".py", "").replaceAll("_", "-");
      const script = compilePython(await Deno.readTextFile(new URL(file, PYTHON)), openInterpreter());
      compareWithBuiltin(slug, script, PARAMETERS[slug]!, toSnake);
    });
  }
});

/** Runs both over the same markets. @param rename Of the parameters, as the script has them. */
function compareWithBuiltin(
  slug: string,
  script: CompiledScript,
  parametersOf: (seed: number) => object,
  rename: (name: string) => string = (name) => name,
): void {
  let orders = 0;
  for (let seed = 1; seed <= 4; seed++) {
    const parameters = parametersOf(seed);
    const own = Object.fromEntries(Object.entries(parameters).map(([name, value]) => [rename(name), value]));
    const execution = withPeriodsPerYear(resolveExecution({ commission: 0.001 }, null), "crypto", DAY_MS);
    const request = { markets: markets(seed), timeframeMs: DAY_MS, initialBalance: 100_000, execution, control: null };
    const { instant } = findTimeline(request.markets, DAY_MS);
    const series = { timeframeMs: DAY_MS, markets: request.markets, marks: instant.length };
    const make = () => new PortfolioGuest(script, JSON.stringify(own), series);
    const run = (strategy: PortfolioRequest["strategy"]) => runPortfolio({ ...request, strategy });
    const scripted = run(new ScriptPortfolio(make, 1, instant));
    const builtin = run(findPortfolioBuiltin(slug)!.create({ ...parameters }));
    expect(scripted.orders).toEqual(builtin.orders);
    expect(scripted.trades).toEqual(builtin.trades);
    expect(scripted.equity).toEqual(builtin.equity);
    expect(scripted.metrics).toEqual(builtin.metrics);
    orders += builtin.orders.count;
  }
  expect(orders).toBeGreaterThan(50);
}

function toSnake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
