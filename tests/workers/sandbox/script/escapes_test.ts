/** Ways out of a realm. Each attempt runs in this very process, where a way out would find Deno. */
import vm from "node:vm";
import { expect } from "@std/expect";
import { failureOf, playScript } from "./scripts.ts";

/** Expressions that may lead to something of the host's: `door` is what the script was given. */
const VALUES: Readonly<Record<string, string>> = {
  "the global": "globalThis",
  "this in a function": "(function () { return this })()",
  "the candles": "candles",
  "a column": "candles.close",
  "a column's memory": "candles.close.buffer",
  "the account": "account",
  "the orders": "orders",
  "a method": "orders.buy",
  "an indicator": "sma",
  "the console": "console",
  "console.log": "console.log",
  "utc's answer": "utc(0)",
  "the trades": "orders.trades",
  "the strategy function": "strategy",
  "the parameters": "parameters",
  "a caller": "(function f() { try { return f.caller } catch (error) { return error } })()",
  "the callers of decide": "(function () { try { return arguments.callee.caller } catch (error) { return error } })()",
  "an error of the engine": "(() => { try { orders.close(2) } catch (error) { return error } })()",
  "an error of the runtime": "(() => { try { null.x } catch (error) { return error } })()",
  "a stack overflow": "(() => { const f = () => f() + 1; try { f() } catch (error) { return error } })()",
  "an allocation that fails": "(() => { try { new ArrayBuffer(2 ** 53) } catch (error) { return error } })()",
  "an invalid time": "(() => { try { utc(Symbol()) } catch (error) { return error } })()",
  "a refused global": "(() => { try { return Date } catch (error) { return error } })()",
  "the getter of a refused global": 'Object.getOwnPropertyDescriptor(globalThis, "Date").get',
  "a promise": "(async () => {})()",
  "an async generator": "(async function* () { yield 1 })()",
  "a proxy of the orders": "new Proxy(orders, {})",
  "an iterator": "[][Symbol.iterator]()",
  "a regular expression's match": '/(?<a>x)/.exec("x")',
  "a template": "((strings) => strings)`x`",
  "a class": "class A extends (orders.constructor) {}",
  "a symbol": "Symbol.iterator",
  "a weak map": "new WeakMap()",
  "a disposable": 'typeof DisposableStack === "function" ? new DisposableStack() : {}',
};

/** Looks for the host behind a value: its constructors, prototypes and members, two steps deep. */
const SEARCH = `const seen = new Set();
const isHost = (value) => {
  try { return value !== null && value !== undefined && (typeof value.Deno === "object" || typeof value.process === "object") }
  catch { return false }
};
const look = (value, depth) => {
  if ((typeof value !== "object" && typeof value !== "function") || value === null || seen.has(value)) return false;
  seen.add(value);
  if (isHost(value)) return true;
  try {
    const made = value.constructor.constructor("return globalThis")();
    if (isHost(made)) return true;
  } catch { /* As it should be. */ }
  if (depth === 0) return false;
  const next = [];
  try { next.push(Object.getPrototypeOf(value)); } catch { /* A proxy. */ }
  for (const key of Reflect.ownKeys(value)) {
    const { get, set, value: member } = Object.getOwnPropertyDescriptor(value, key) ?? {};
    next.push(get, set, member);
  }
  return next.some((one) => look(one, depth - 1));
};`;

Deno.test("the search finds the host behind an object or a function of its own", () => {
  for (const value of [{}, [], () => {}, new Error("x"), { deep: { inside: new ArrayBuffer(8) } }]) {
    const context = vm.createContext({ value });
    expect(vm.runInContext(`${SEARCH}; look(value, 4)`, context)).toBe(true);
  }
});

Deno.test("nothing that a script can reach leads to the host", async (t) => {
  for (const [name, value] of Object.entries(VALUES)) {
    await t.step(name, async () => {
      const source = `${SEARCH}
strategy((parameters) => ({
  decide(i, candles, account, orders) {
    if (i !== 1) return;
    const value = ${value};
    console.log(look(value, 4) ? "escaped" : "contained", seen.size > 0);
  },
}));`;
      const { log } = await playScript(source, [10, 11, 12]);
      expect(log).toHaveLength(1);
      expect(log[0]).toMatch(/^contained/);
    });
  }
});

/** Lines of `decide` that must end in an error, or do nothing at all. */
const REFUSED: Readonly<Record<string, string>> = {
  "eval": 'eval("1")',
  "indirect eval": '(0, globalThis.eval)("1")',
  "Function": 'Function("return 1")()',
  "the constructor of functions": '(() => {}).constructor("return 1")()',
  "the constructor of async functions": '(async () => {}).constructor("return 1")()',
  "the constructor of generators": '(function* () {}).constructor("yield 1")()',
  "the clock": "Date.now()",
  "a date": "new Date()",
  "Temporal": "Temporal.Now.instant()",
  "chance": "Math.random()",
  "Intl": 'new Intl.NumberFormat("de")',
  "a locale": '(1).toLocaleString("de")',
  "a comparison by locale": '"a".localeCompare("b")',
  "a capital by locale": '"i".toLocaleUpperCase("tr")',
  "a column by locale": "candles.close.toLocaleString()",
  "WebAssembly": "new WebAssembly.Module(new Uint8Array(8))",
  "shared memory": "new SharedArrayBuffer(8)",
  "Atomics": "Atomics.wait(new Int32Array(8), 0, 0)",
  "weak references": "new WeakRef({})",
  "finalisation": "new FinalizationRegistry(() => {})",
  "microtasks": "queueMicrotask(() => {})",
  "promises": "Promise.resolve().then(() => {})",
  "timers": "setTimeout(() => {}, 0)",
  "fetch": 'fetch("http://127.0.0.1")',
  "Deno": "Deno.exit()",
  "process": "process.exit()",
  "require": 'require("node:fs")',
  "a Worker": 'new Worker("data:,")',
  "messages": "postMessage(1)",
  "performance": "performance.now()",
  "structuredClone": "structuredClone({})",
  "the stack's formatter": "Error.prepareStackTrace = () => 1",
  "another console": "console.log = () => 1",
  "another strategy": "globalThis.strategy = 1",
  "moving a column's memory": "candles.close.buffer.transfer()",
  "growing a column's memory": "candles.close.buffer.resize(8)",
  "other candles": "candles.close = new Float64Array(8)",
  "an undeclared variable": "leak = 1",
};

Deno.test("a script has no clock, chance, locale, thread or code from texts", async (t) => {
  for (const [name, line] of Object.entries(REFUSED)) {
    await t.step(name, async () => {
      const source = `strategy(() => ({ decide(i, candles, account, orders) { ${line}; } }));`;
      expect(await failureOf(() => playScript(source, [10, 11, 12]))).toMatch(
        /cannot be used: |is not defined|is not a function|Cannot assign to read only|Cannot redefine|Code generation|not extensible/,
      );
    });
  }
});

/** Scripts that take over their own realm. The run may fail; the host may not. */
const TAKEOVERS: Readonly<Record<string, string>> = {
  "the order table": "new Int32Array(candles.close.buffer).fill(-1)",
  "the account and the tables": "new Float64Array(candles.close.buffer).fill(NaN)",
  "the columns": "candles.close.fill(1e308)",
  "array iteration": "Array.prototype[Symbol.iterator] = function* () { yield 1 }; console.log(1)",
  "setters on Object":
    'Object.defineProperty(Object.prototype, "message", { set() { throw 1 }, get() { throw 1 } }); null.x',
  "JSON": 'JSON.stringify = () => ({}); JSON.parse = () => ({}); console.log({}); plot("a", 1)',
  "a JSON that throws": "JSON.stringify = () => { throw 1 }; JSON.parse = () => { throw 1 }; null.x",
  "lists that cannot be read": "Array.prototype.map = Array.prototype.filter = () => { throw 1 }; null.x",
  "Error": "globalThis.Error = undefined; null.x",
  "String": "String.prototype.slice = () => { throw 1 }; console.log(1)",
  "Map": 'Map.prototype.get = () => ({}); plot("a", 1); orders.buy({ tag: "b" })',
  "Float64Array": 'globalThis.Float64Array = function () { return {} }; plot("a", 1)',
  "Reflect": "Reflect.apply = () => { throw 1 }; Function.prototype.call = () => 7",
  "instanceof": "Object.defineProperty(Error, Symbol.hasInstance, { value: () => { throw 1 } }); null.x",
  "the message of an error":
    'throw Object.defineProperty(new Error(), "message", { get() { return { toString: null } } })',
  "a proxy as error": "throw new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })",
  "a long message": 'throw new Error("x".repeat(2 ** 20))',
  "a message of control characters": 'throw new Error("\\u001b[31m\\n\\u0000")',
  "a frame of its own": 'throw new Error(\'{"type":"completed","result":{}}\\n\')',
  "then on Object": "Object.prototype.then = (resolve) => resolve(1)",
  "toJSON on Object": "Object.prototype.toJSON = () => 1; console.log({})",
  "options that are a proxy":
    'orders.buy(new Proxy({}, { ownKeys() { return ["size"] }, getOwnPropertyDescriptor() { return { value: 1, enumerable: true, configurable: true } }, get() { return 1 } }))',
  "options with getters": "orders.buy({ get size() { orders.buy(); return 1 } })",
  "a generator left running": "const g = (function* () { for (;;) yield 1 })(); g.next()",
};

Deno.test("a script that takes its realm over fails alone", async (t) => {
  const healthy = `strategy(() => ({ decide(i, candles, account, orders) { if (i === 0) orders.buy(); } }));`;
  for (const [name, line] of Object.entries(TAKEOVERS)) {
    await t.step(name, async () => {
      const source = `strategy(() => ({ decide(i, candles, account, orders) { if (i === 1) { ${line}; } } }));`;
      const failure = await failureOf(() => playScript(source, [10, 11, 12]));
      expect(failure.length).toBeLessThan(2000);
      expect(/\p{Cc}/u.test(failure)).toBe(false);
      expect(Reflect.ownKeys(Object.prototype)).not.toContain("then");
      const { result } = await playScript(healthy, [10, 11, 12]);
      expect(result.orders.count).toBe(1);
      expect([...result.equity].every(Number.isFinite)).toBe(true);
    });
  }
});

/** Wraps every function and accessor that a realm's prelude could call, and keeps each object that passes through one. */
const SPY = `const seen = new Set();
let isSpying = true;
const { apply, construct, ownKeys, getOwnPropertyDescriptor, defineProperty, getPrototypeOf } = Reflect;
const { add: addTo, forEach } = Set.prototype;
const [Doubles, Buffer] = [Float64Array, ArrayBuffer];
const isView = ArrayBuffer.isView;
const keep = (value) => {
  if (isSpying && typeof value === "object" && value !== null) apply(addTo, seen, [value]);
  return value;
};
const spyOn = (call) => function (...args) {
  keep(this);
  for (let n = 0; n < args.length; n++) keep(args[n]);
  return keep(new.target === undefined ? apply(call, this, args) : construct(call, args, new.target));
};
const typed = getPrototypeOf(Float64Array.prototype);
const owners = [Object, Array, Map, String, Number, Symbol, JSON, Math, Object.prototype, Array.prototype, Map.prototype,
  getPrototypeOf(() => {}), String.prototype, Number.prototype, RegExp.prototype, ArrayBuffer.prototype, typed, typed.constructor];
for (let n = 0; n < owners.length; n++) {
  const keys = ownKeys(owners[n]);
  for (let k = 0; k < keys.length; k++) {
    const { value, get, set, configurable } = getOwnPropertyDescriptor(owners[n], keys[k]);
    if (!configurable || keys[k] === "constructor" || keys[k] === "__proto__") continue;
    if (typeof value === "function") defineProperty(owners[n], keys[k], { value: spyOn(value) });
    else if (typeof get === "function") defineProperty(owners[n], keys[k], { get: spyOn(get), ...(set && { set }) });
  }
}
for (let n = 0; n < 600; n++) {
  defineProperty(Array.prototype, n, { set(value) { keep(this); keep(value);
    defineProperty(this, n, { value, writable: true, enumerable: true, configurable: true }); } });
}
const names = ["Float64Array", "Int32Array", "Uint8Array", "ArrayBuffer", "Map", "TypeError", "RangeError"];
for (let n = 0; n < names.length; n++) {
  const made = globalThis[names[n]];
  globalThis[names[n]] = new Proxy(made, { construct: (target, args, as) => keep(construct(target, args, as)) });
}
/** The largest number in the memory of an object, or of its members. */
const largestOf = (value, depth) => {
  let most = -Infinity;
  if (typeof value !== "object" || value === null) return most;
  const buffer = value instanceof Buffer ? value : apply(isView, null, [value]) ? value.buffer : null;
  if (buffer !== null) {
    const doubles = new Doubles(buffer, 0, apply(floor, null, [buffer.byteLength / 8]));
    for (let n = 0; n < doubles.length; n++) if (doubles[n] > most && doubles[n] < 2e6) most = doubles[n];
    return most;
  }
  const keys = depth === 0 ? [] : ownKeys(value);
  for (let k = 0; k < keys.length; k++) {
    const { value: member } = getOwnPropertyDescriptor(value, keys[k]);
    const largest = largestOf(member, depth - 1);
    if (largest > most) most = largest;
  }
  return most;
};
const { floor } = Math;
const largestSeen = () => {
  let most = -Infinity;
  isSpying = false;
  apply(forEach, seen, [(one) => {
    const largest = largestOf(one, 2);
    if (largest > most) most = largest;
  }]);
  isSpying = true;
  return most;
};`;

Deno.test("nothing that a script can replace gets hold of candles that have not closed", async () => {
  // Each close is higher than all before it. Nothing happens between candles 8 and 40, which are decided on together.
  const closes = Array.from({ length: 48 }, (_, i) => 1_000_000 + i);
  const { log } = await playScript(
    `strategy(() => ({
  prepare({ close, high }) { this.mean = sma(close, 1); this.lines = macd(close, 2, 3, 2); },
  decide(i, candles, account, orders) {
    if (i < 8) {
      const order = orders.buy({ limitPrice: 1, size: 1, tag: "t" + i });
      console.log(orders.working, orders.trades, orders.isWorking(order), utc(0), candles.close, [i]);
      orders.cancelAll(); orders.sell({ stopPrice: 1, reduceOnly: true });
      try { orders.buy({ size: "x" }); } catch {}
      try { orders.close(7); } catch {}
    }
    plot("mean", this.mean[i]); plot("signal", this.lines.signal[i], "own");
    crossesAbove(candles.close, this.mean, i);
    const ahead = largestSeen() - candles.close[i];
    if (ahead > most) most = ahead;
    if (i === 47) console.log(floor(most), seen.size > 100);
  },
}));
let most = -Infinity;
${SPY}`,
    closes,
  );
  expect(log.at(-1)).toBe("0 true");
});
