import { expect } from "@std/expect";
import { createControl } from "../../../../engine/control.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { doScriptJob } from "../../../../workers/sandbox/script/run.ts";
import { warmUp } from "../../../../workers/sandbox/script/warm_up.ts";
import { dailyCandles, taskOver, wanderingCloses } from "../sandbox_tasks.ts";

/** Says what it finds of the language and of ours, trades, and leaves something behind. */
const LOOKING = `
var left = globalThis.left === undefined ? "nothing" : "something";
const describe = (owner) => Reflect.ownKeys(owner).map((key) => {
  const { value, get, set, ...attributes } = Object.getOwnPropertyDescriptor(owner, key);
  const kind = value === undefined ? String(get) : typeof value;
  return String(key) + " " + kind + " " + JSON.stringify(attributes) + " " + Object.isFrozen(value);
}).join(", ");
const say = (text) => {
  for (let at = 0; at < text.length; at += 1000) console.log(text.slice(at, at + 1000));
};
say(left + " " + describe(globalThis) + " " + Object.isExtensible(globalThis));
for (const name of Reflect.ownKeys(globalThis)) {
  const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
  if (typeof value !== "function") continue;
  say([String(name), describe(value), describe(value.prototype ?? {}), RegExp.lastMatch].join(" "));
}
for (const name of ["sma", "plot", "utc", "console"]) {
  try {
    Object.defineProperty(globalThis, name, { value: 1 });
    console.log(name, "was replaced");
  } catch (error) {
    console.log(String(error));
  }
}
strategy(() => ({
  prepare({ close }) { this.quick = sma(close, 3); this.calm = sma(close, 8); },
  decide(i, candles, account, orders) {
    if (crossesAbove(this.quick, this.calm, i)) orders.buy({ stopLossFraction: 0.1 });
    else if (account.quantity > 0 && crossesBelow(this.quick, this.calm, i)) orders.close();
    plot("quick", this.quick[i]);
  },
}));`;

Deno.test("a script in a realm that ours has left finds a new one, and trades as there", async () => {
  const look = async () => {
    const watch = { control: createControl(), report: () => {}, countIn: () => {} };
    const job = {
      kind: "script",
      language: "typescript",
      source: LOOKING,
      parametersJson: "{}",
      candlesMin: 1,
    } as const;
    const task = taskOver(dailyCandles(wanderingCloses(400)));
    return await doScriptJob({ ...job, lookbackWanted: null, task }, watch, compileScript);
  };
  const fresh = await look();
  if (fresh.type !== "completed" || !("result" in fresh)) throw new Error(`Cannot look: ${JSON.stringify(fresh)}`);
  expect(fresh.log.length).toBeGreaterThan(40);
  expect(fresh.result.metrics.trades).toBeGreaterThan(1);
  await warmUp(() => true);
  // A run and its check take two of three realms, the next run the last.
  for (let k = 0; k < 3; k++) expect(await look()).toEqual(fresh);
});

Deno.test("a process that waits runs a strategy of ours four times, and none once it has a job", async () => {
  expect(await warmUp(() => true)).toBe(4);
  let asked = 0;
  expect(await warmUp(() => asked++ < 2)).toBe(2);
  expect(await warmUp(() => false)).toBe(0);
});
