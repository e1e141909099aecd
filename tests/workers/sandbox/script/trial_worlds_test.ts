/** Trials of a script in one realm: each ends as it would in a realm of its own, whatever those before have done. */
import { expect } from "@std/expect";
import { createControl } from "../../../../engine/control.ts";
import { BUILTINS } from "../../../../strategies/builtin/catalogue.ts";
import type { TrialOutcome } from "../../../../workers/sandbox/task.ts";
import type { ScriptTrialsJob } from "../../../../workers/sandbox/trials_task.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { type Compile, doScriptJob, doScriptRuns } from "../../../../workers/sandbox/script/run.ts";
import { dailyCandles, taskOver, wanderingCloses } from "../wasm/modules.ts";
import { deciding } from "./scripts.ts";

const TASK = taskOver(dailyCandles(wanderingCloses(400)), { firstIndex: 120 });
const TRIALS = 5;
/** A strategy that trades only where its lines have left nothing behind. */
const tradingOnce = (isFirst: string, leave: string) =>
  deciding(`if (i === 220 && ${isFirst}) orders.buy(); if (i === 230) orders.close(); if (i === 240) { ${leave} }`);

/** Lines that leave something behind, and the condition that it was not there. */
const LEFT: Readonly<Record<string, readonly [isFirst: string, leave: string]>> = {
  "a global": ["globalThis.seen === undefined", "globalThis.seen = 1;"],
  "a member of the language": ["Math.seen === undefined", "Math.seen = 1;"],
  "another function of the language": ["Math.max(1, 2) === 2", "Math.max = () => 3;"],
  "a member of a prototype": ["[].seen === undefined", "Array.prototype.seen = 1;"],
  "a member of a hidden prototype": [
    "[].values().seen === undefined",
    "Object.getPrototypeOf([].values()).seen = 1;",
  ],
  "a member of generators": [
    "(function* () {})().seen === undefined",
    "Object.getPrototypeOf(function* () {}).prototype.seen = 1;",
  ],
  "a symbol": ["Object.prototype[Symbol.for('seen')] === undefined", "Object.prototype[Symbol.for('seen')] = 1;"],
  "another attribute": ["Object.getOwnPropertyDescriptor(Math, 'max').writable", "Object.freeze(Math);"],
  "an attribute alone": [
    "Object.getOwnPropertyDescriptor(Math, 'max').writable",
    "Object.defineProperty(Math, 'max', { writable: false });",
  ],
  "another prototype": [
    "Object.getPrototypeOf(Map) === Object.getPrototypeOf(Set)",
    "Object.setPrototypeOf(Map, Array);",
  ],
  "a getter": [
    "String.prototype.seen === undefined",
    "Object.defineProperty(String.prototype, 'seen', { get: () => 1 });",
  ],
  "the last match": ["RegExp.$1 !== 'seen'", "/(seen)/.exec('seen');"],
  "a member of ours": ["crossesAbove.seen === undefined", "crossesAbove.seen = 1;"],
  "a member of our times": ["utc.seen === undefined", "utc.seen = 1;"],
  "a member of a method": [
    "Math.max.seen === undefined && Math.max.length === 2",
    "try { Math.max.seen = 1; } catch {} Reflect.deleteProperty(Math.max, 'length');",
  ],
  "a member that is missing": ["Math.sign !== undefined", "delete Math.sign;"],
};

Deno.test("each script of a built-in strategy ends its trials as in realms of their own", async () => {
  for (const { slug, parameter_schema } of BUILTINS) {
    const file = new URL(`../../../../strategies/scripts/${slug.replaceAll("-", "_")}.ts`, import.meta.url);
    const source = await Deno.readTextFile(file).catch(() => null);
    if (source === null) continue;
    const parameters = Object.fromEntries(
      Object.entries(parameter_schema.properties).map(([name, property]) => [name, property.default]),
    );
    const jobs = Array.from(
      { length: TRIALS },
      (_, n) => "period" in parameters ? { ...parameters, period: 5 + n } : parameters,
    );
    const { outcomes, worlds } = await runTrialsOf(source, jobs);
    expect([slug, outcomes]).toEqual([slug, (await runTrialsOf(source, jobs, compileAlone)).outcomes]);
    // The first that is quick in a realm of its own, and all that follow in the one that lasts.
    expect([slug, worlds.alone + worlds.lasting]).toEqual([slug, TRIALS + 1]);
  }
});

Deno.test("a trial finds nothing of the trials before it", async () => {
  for (const [what, [isFirst, leave]] of Object.entries(LEFT)) {
    const { outcomes } = await runTrialsOf(tradingOnce(isFirst, leave));
    const trades = outcomes.map((outcome) => outcome.type === "completed" ? outcome.metrics.trades : outcome);
    expect([what, trades]).toEqual([what, Array.from({ length: TRIALS }, () => 1)]);
  }
});

Deno.test("a script's own variables are new in each trial", async () => {
  const source =
    `let count = 0; const kept = []; class Held { static all = new Map(); } function counted() { counted.n = (counted.n ?? 0) + 1; }
${
      deciding(
        "if (i === 220 && count + kept.length + Held.all.size + (counted.n ?? 0) === 0) orders.buy(); if (i === 230) orders.close(); if (i === 240) { count++; kept.push(1); Held.all.set(1, 1); counted(); }",
      )
    }`;
  const { outcomes, worlds } = await runTrialsOf(source);
  expect(outcomes.map((outcome) => outcome.type === "completed" && outcome.metrics.trades)).toEqual([1, 1, 1, 1, 1]);
  expect(worlds).toEqual({ alone: 1, lasting: TRIALS });
});

Deno.test("a script that trades otherwise as the body of a function has a realm of its own for each trial", async () => {
  const source = `function size() { return 1; }
${deciding("if (i === 220 && globalThis.size !== undefined) orders.buy(); if (i === 230) orders.close();")}`;
  const { outcomes, worlds } = await runTrialsOf(source);
  expect(outcomes.map((outcome) => outcome.type === "completed" && outcome.metrics.trades)).toEqual([1, 1, 1, 1, 1]);
  expect(worlds).toEqual({ alone: TRIALS, lasting: 1 });
});

Deno.test("a trial that fails or is refused ends no other one", async () => {
  const source = `strategy(({ n }) => {
  if (n === 1) throw new RangeError("not one");
  return { decide(i, candles, account, orders) {
    if (i === 220) orders.buy();
    if (i === 230) orders.close();
    if (n === 3 && i === 225) throw new Error("three");
  } };
});`;
  const { outcomes } = await runTrialsOf(source, [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  expect(outcomes.map(({ type }) => type)).toEqual(["completed", "refused", "completed", "failed", "completed"]);
  expect(outcomes).toEqual(
    (await runTrialsOf(source, [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }], compileAlone)).outcomes,
  );
});

Deno.test("a trial whose warm-up is longer than the lookback has its range, and is made anew only if it knew another", async () => {
  // 20 candles are wanted before the range, and its 60 of warm-up are loaded.
  const late = "strategy((parameters, series) => ({ warmup: 60, decide(i, candles, account, orders) { " +
    "if (i === 220 && series.firstIndex === 60) orders.buy(); if (i === 230) orders.close(); } }));";
  const early = late.replace("series)", "{ firstIndex })").replace("series.firstIndex", "firstIndex");
  for (const [source, made] of [[late, 1], [early, 2]] as const) {
    const { outcomes, worlds } = await runTrialsOf(source, undefined, compileScript, { lookback: 20 });
    expect(outcomes.map((outcome) => outcome.type === "completed" && outcome.metrics.trades)).toEqual([1, 1, 1, 1, 1]);
    expect(worlds).toEqual({ alone: made, lasting: made * TRIALS });
  }
});

Deno.test("a run is checked in a world that lasts, and in new ones where the script needs them", async () => {
  const plain = deciding("if (i % 9 === 1) orders.buy(); if (i % 9 === 5) orders.close();");
  const needy = `function size() { return 1; }
${deciding("if (globalThis.size === undefined) throw new Error('lost'); if (i % 9 === 1) orders.buy();")}`;
  // The run, and six checks.
  for (const [source, alone] of [[plain, 1], [needy, 7]] as const) {
    const worlds = { alone: 0 };
    const counting: Compile = async (source) => {
      const { open, ...script } = await compileScript(source);
      return { ...script, open: (market) => (worlds.alone++, open(market)) };
    };
    const job = { kind: "script", language: "typescript", source, parametersJson: "{}", candlesMin: 1 } as const;
    const watch = { control: createControl(), report: () => {}, countIn: () => {} };
    const outcome = await doScriptJob({ ...job, lookbackWanted: null, task: TASK }, watch, counting);
    expect(outcome).toMatchObject({
      integrity: { lookahead: { status: "passed" }, determinism: { status: "passed" } },
    });
    expect([source, worlds.alone]).toEqual([source, alone]);
  }
});

/** Compiles a script that has a realm of its own for each run. */
const compileAlone: Compile = async (source) => {
  const { openAgain: _, ...script } = await compileScript(source);
  return script;
};

/** @returns The trials' outcomes, and how many worlds of each kind were opened. */
async function runTrialsOf(
  source: string,
  parameters: readonly object[] = Array.from({ length: TRIALS }, () => ({})),
  compile: Compile = compileScript,
  overrides: Partial<ScriptTrialsJob> = {},
) {
  const worlds = { alone: 0, lasting: 0 };
  const counting: Compile = async (source) => {
    const { open, openAgain, ...script } = await compile(source);
    return {
      ...script,
      open: (market) => (worlds.alone++, open(market)),
      ...(openAgain && { openAgain: () => (worlds.lasting++, openAgain()) }),
    };
  };
  const job: ScriptTrialsJob = {
    ...{ kind: "script_trials", language: "typescript", source, candlesMin: 1, task: TASK, lookback: 120 },
    ...{ parametersJson: parameters.map((each) => JSON.stringify(each)), lookbackWanted: 200, canReload: false },
    ...{ budgetMs: 60_000, returnsMax: Infinity, ...overrides },
  };
  const outcomes: TrialOutcome[] = [];
  const listener = {
    control: createControl(),
    report: (message: object) =>
      void ("outcome" in message && outcomes.push(structuredClone(message.outcome) as TrialOutcome)),
    countIn: () => {},
  };
  expect(await doScriptRuns(job, listener, counting)).toEqual({ type: "completed" });
  return { outcomes, worlds };
}
