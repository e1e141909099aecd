/** Reads of candles that have not closed are said with their line, and nothing else is. */
import { expect } from "@std/expect";
import { findDescription } from "../../../../strategies/builtin/catalogue/descriptions.ts";
import { compilePython } from "../../../../workers/sandbox/python/compile.ts";
import { sampleCandles } from "../../../../workers/sandbox/sample_candles.ts";
import { peeksOfPortfolioCheck } from "../../../../workers/sandbox/script/check_portfolio.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { peeksOfCheck, peeksOfRun } from "../../../../workers/sandbox/script/find_peeks.ts";
import type { Compile } from "../../../../workers/sandbox/script/run.ts";
import type { ScriptLanguage } from "../../../../workers/sandbox/task.ts";
import { openInterpreter, pythonDeciding } from "../python/python_scripts.ts";
import { taskOver } from "../wasm/modules.ts";
import { deciding } from "./scripts.ts";

const STRATEGIES = new URL("../../../../strategies/", import.meta.url);
const python: Compile = async (source) => compilePython(source, await openInterpreter());

async function peeksOf(source: string, compile: Compile = compileScript, parameters: object = {}) {
  const language: ScriptLanguage = compile === python ? "python" : "typescript";
  const question = { source, language, parametersJson: JSON.stringify(parameters), candlesMin: 1 };
  const job = { ...question, kind: "check_script" } as const;
  const script = await compile(source);
  const found = script.reads.run(() => peeksOfCheck(job, script));
  const run = { ...job, kind: "script", lookbackWanted: null, task: taskOver(sampleCandles()) } as const;
  return { found: found.map(placeIn), inRun: peeksOfRun(run, script).map(placeIn) };
}

function placeIn(note: string): string {
  return /^The script reads candles that have not closed, at (.*)\. Columns end with/.exec(note)?.[1] ?? note;
}

Deno.test("a script that reads ahead is told its lines, in its check and in its run", async () => {
  const ahead = await peeksOf(
    deciding("\n if (!(candles.close[i + 1] < candles.close[i])) orders.buy();\n candles.open.at(-1);"),
  );
  expect(ahead.found).toEqual(["decide (strategy.ts:4:21)", "decide (strategy.ts:5:15)"]);
  expect(ahead.inRun).toEqual(ahead.found);
  const column = "this.mean[i + 2]; sma; candles.high[candles.high.length - 1];";
  expect((await peeksOf(deciding(column, "this.mean = sma(candles.close, 3);"))).found).toEqual([
    "decide (strategy.ts:3:50)",
    "decide (strategy.ts:3:76)",
  ]);
  // A run is looked at where its text may peek at all.
  expect(await peeksOf(deciding("", "this.first = candles.close[0];"))).toEqual({
    found: ["prepare (strategy.ts:2:48)"],
    inRun: [],
  });
});

Deno.test("a Python script that reads ahead is told its lines", async () => {
  const ahead = await peeksOf(
    pythonDeciding("max(candles.close[i + 1:i + 5], default=0)\nsum(candles.high[i - 1:i + 3])"),
    python,
  );
  expect(ahead.found).toEqual(["decide (strategy.py:6)", "decide (strategy.py:7)"]);
  expect(ahead.inRun).toEqual(ahead.found);
  const honest =
    "sum(candles.close[-20:])\nsum(candles.close[max(0, i - 5):i + 1])\ncandles.close[:3]\nlist(candles.close)" +
    "\nif i == 3: orders.buy()\n[(each.best_price, each.worst_price) for each in orders.trades]";
  expect((await peeksOf(pythonDeciding(honest), python)).found).toEqual([]);
});

async function peeksOfPortfolio(source: string, compile: Compile): Promise<readonly string[]> {
  const language: ScriptLanguage = compile === python ? "python" : "typescript";
  const script = await compile(source);
  const job = { kind: "check_script", source, language, parametersJson: "{}", candlesMin: 1 } as const;
  return script.reads.run(() => peeksOfPortfolioCheck(job, script)).map(placeIn);
}

Deno.test("a script that decides on many markets and reads ahead is told its lines", async () => {
  const ahead = `portfolio(() => ({
    prepare(markets) { markets[0].close[0]; this.means = markets.map(({ close }) => sma(close, 3)); },
    decide(now, markets, account, orders) {
      for (const { close, i, index } of markets) close[i] + close[i - 1] + this.means[index][i + 1] + close[i];
      markets[1].inputs.daily.close.at(-1);
    },
  }));`;
  expect(await peeksOfPortfolio(ahead, compileScript)).toEqual([
    "prepare (strategy.ts:2:40)",
    "decide (strategy.ts:4:93)",
    "decide (strategy.ts:5:37)",
  ]);
  const inPython = `class Own(Portfolio):
    def decide(self, now, markets, account, orders):
        for market in markets:
            max(market.close[market.i:market.i + 1])
            max(market.close[market.i + 1:market.i + 5], default=0)
`;
  expect(await peeksOfPortfolio(inPython, python)).toEqual(["decide (strategy.py:5)"]);
});

Deno.test("a check refuses a member that is not there, with the nearest name and its line, and a run notes it", async () => {
  const refused = async (source: string, portfolio = false): Promise<string> => {
    const asked = portfolio ? peeksOfPortfolio(source, compileScript) : peeksOf(source);
    return await asked.then((found) => JSON.stringify(found), ({ message }) => message);
  };
  const rows: readonly (readonly [lines: string, said: RegExp])[] = [
    [
      "\n if (account.quantiy > 0) orders.close();",
      /account\.quantiy at decide \(strategy\.ts:4:\d+\) is not known: did you mean quantity\?/,
    ],
    ["if (orders.worKing.length > 9) return;", /orders\.worKing at .* is not known: did you mean working\?/],
    ["candles.clos;", /candles\.clos at .* is not known: did you mean close\?/],
    [
      "account.position;",
      /account\.position at .*: it has cash, equity, quantity, entryPrice, initialBalance, closedTrades$/,
    ],
    [
      "if (i === 3) orders.buy();\n for (const each of orders.trades) each.entrPrice;",
      /trade\.entrPrice at .* is not known: did you mean entryPrice\?/,
    ],
  ];
  for (const [lines, said] of rows) expect(await refused(deciding(lines))).toMatch(said);
  const told = "onFill(fill) { fill.prise; }, decide(i, candles, account, orders) { if (i === 3) orders.buy(); }";
  expect(await refused(`strategy(() => ({ ${told} }));`)).toMatch(/fill\.prise at onFill .*: did you mean price\?/);
  for (
    const [read, said] of [
      ["markets[0].clsoe", /market\.clsoe at .*: did you mean close\?/],
      ["orders.of(markets[0].id).trade", /orders\.of\(\)\.trade at .*: did you mean trades\?/],
    ] as const
  ) {
    const source = `portfolio(() => ({ decide(now, markets, account, orders) { ${read}; } }));`;
    expect(await refused(source, true)).toMatch(said);
  }
  const source = deciding("account.quantiy;");
  const script = await compileScript(source);
  const task = taskOver(sampleCandles());
  const job = {
    kind: "script",
    source,
    language: "typescript",
    parametersJson: "{}",
    candlesMin: 1,
    lookbackWanted: null,
    task,
  } as const;
  expect(peeksOfRun(job, script)).toEqual([
    expect.stringMatching(/^The script reads what is not there: account.quantiy .*strategy.ts:3/),
  ]);
});

Deno.test("honest reads raise no alarm", async () => {
  const lines = `
    const { close } = candles;
    const own = [1, 2, 3];
    own[i + 1]; own.at(-1);
    close[i - 1]; close[i]; close.at(i); close.slice(Math.max(0, i - 5), i + 1).reduce((a, b) => a + b, 0);
    Math.max(...close.subarray(0, i + 1)); crossesAbove(close, candles.open, i);
    for (let k = 0; k <= i; k++) close[k];
    JSON.stringify([account, orders.trades]); ({ ...account }); "quantiy" in account; Object.keys(orders);
    account.closedTrades.length; account.entryPrice; account.initialBalance; orders.working.includes(1);`;
  expect(await peeksOf(deciding(lines))).toEqual({ found: [], inRun: [] });
});

for (const [folder, end, compile] of [["scripts", ".ts", compileScript], ["scripts_python", ".py", python]] as const) {
  Deno.test(`no script in ${folder} raises an alarm`, async (t) => {
    for (const path of ["", "examples/", "portfolio/"]) {
      const within = new URL(`${folder}/${path}`, STRATEGIES);
      for (const { name } of Deno.readDirSync(within)) {
        if (!name.endsWith(end) || name.endsWith(".d.ts")) continue;
        await t.step(path + name, async () => {
          const rules = findDescription(name.slice(0, -3).replaceAll("_", "-"))?.parameter_schema.properties ?? {};
          const source = await Deno.readTextFile(new URL(name, within));
          if (path === "portfolio/") return expect(await peeksOfPortfolio(source, compile)).toEqual([]);
          const parameters = compile === python || path !== ""
            ? {}
            : Object.fromEntries(Object.entries(rules).map(([key, rule]) => [key, Object(rule).default]));
          expect((await peeksOf(source, compile, parameters)).found).toEqual([]);
        });
      }
    }
  });
}
