/** A script that replaces methods of the language gets hold of no call site, path or line of the host's. */
import { expect } from "@std/expect";
import { deciding, playScript } from "./scripts.ts";

/** A script has a console of its own. */
const LOG = "console.log";

/** Notes what passes through a replaced function, as long as it is not the script's own: objects with a method of call sites, and paths. */
const SPY = `const { apply, construct, ownKeys, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Reflect;
const own = RegExp.prototype.exec;
const found = [];
let isSpying = true;
const SITES = ["getFileName", "getThis", "getFunction", "getEvalOrigin", "getScriptNameOrSourceURL", "getPosition"];
const note = (value, depth = 2) => {
  if (!isSpying || value === null || value === undefined) return value;
  isSpying = false;
  look(value, depth);
  isSpying = true;
  return value;
};
const look = (value, depth) => {
  if (typeof value === "string") {
    if (apply(own, /file:|node:|ext:|[.](?:ts|js):/, [value]) && !apply(own, /^(?:[^(]*[(])?strategy[.]ts/, [value])) found[found.length] = value;
    return;
  }
  if ((typeof value !== "object" && typeof value !== "function") || value === null || depth === 0) return;
  try {
    for (let n = 0; n < SITES.length; n++) if (typeof value[SITES[n]] === "function") found[found.length] = SITES[n];
    const keys = ownKeys(value);
    for (let n = 0; n < keys.length && n < 200; n++) {
      const { value: member } = getOwnPropertyDescriptor(value, keys[n]) ?? {};
      look(member, depth - 1);
    }
  } catch { /* A proxy of the script's own. */ }
};
const spyOn = (call) => function (...args) {
  note(this);
  for (let n = 0; n < args.length; n++) note(args[n]);
  return note(new.target === undefined ? apply(call, this, args) : construct(call, args, new.target));
};
const replace = (owner, key) => {
  const { value, get, set, configurable } = getOwnPropertyDescriptor(owner, key) ?? {};
  if (!configurable || key === "constructor" || key === "__proto__") return;
  if (typeof value === "function") defineProperty(owner, key, { value: spyOn(value) });
  else if (typeof get === "function") defineProperty(owner, key, { get: spyOn(get), ...(set && { set }) });
};
const replaceAll = (owner) => { const keys = ownKeys(owner); for (let n = 0; n < keys.length; n++) replace(owner, keys[n]); };
/** The members of call sites, where a lookup that misses would find them. */
const bait = () => {
  for (let n = 0; n < SITES.length; n++) {
    defineProperty(Object.prototype, SITES[n], { configurable: true, get() { isSpying && (found[found.length] = "bait"); return undefined; } });
  }
};`;

/** Code that makes the runtime write a stack. */
const STACKS = `
  const deep = () => deep() + 1;
  const causes = [
    () => null.x, () => deep(), () => new Error("a").stack, () => orders.close(7), () => Date, () => new ArrayBuffer(2 ** 53),
    () => { const o = {}; Error.captureStackTrace(o); return o.stack; },
    () => [3, 2, 1].sort(() => { throw new Error("b"); }), () => JSON.parse("{"), () => decodeURIComponent("%"), () => BigInt(1.5),
    () => new Proxy({}, { get() { throw new TypeError("c"); } }).x, () => { throw Object.assign(new Error("d"), { name: "/" }); },
  ];
  for (const cause of causes) {
    try { note(cause()); } catch (error) { note(error); note(error.stack); ${LOG}(String(error.stack).length >= 0); }
  }`;

const METHODS = [
  ...["filter", "map", "push", "join", "slice", "forEach", "concat", "flatMap", "entries", "indexOf", "at"].map((key) =>
    `replace(Array.prototype, "${key}");`
  ),
  "replace(Array.prototype, Symbol.iterator);",
  'const calls = getPrototypeOf(() => {}); replace(calls, "call"); replace(calls, "apply"); replace(calls, "bind");',
  'replace(JSON, "stringify"); replace(JSON, "parse");',
  'replace(Reflect, "apply"); replace(Object, "defineProperty"); replace(Object, "entries");',
  "replaceAll(String.prototype);",
  "replaceAll(RegExp.prototype);",
  "replaceAll(Map.prototype);",
  'replace(Error, "captureStackTrace"); Error.stackTraceLimit = 1e6;',
  "try { Error.prepareStackTrace = (error, sites) => sites; } catch {} try { delete Error.prepareStackTrace; } catch {}",
  'class E extends Error { static prepareStackTrace(error, sites) { note(sites, 3); return sites; } } note(new E("x").stack); try { globalThis.Error = E; } catch {}',
  "class F extends Error { static prepareStackTrace(error, sites) { note(sites, 3); return sites; } } try { delete globalThis.Error; defineProperty(globalThis, 'Error', { value: F }); } catch {} note(new F('x').stack);",
  "bait();",
  "for (let n = 0; n < 50; n++) defineProperty(Array.prototype, n, { configurable: true, set(value) { note(this, 3); note(value); defineProperty(this, n, { value, writable: true, enumerable: true, configurable: true }); } });",
  "replaceAll(Array.prototype); replaceAll(Object); replaceAll(Object.prototype); replaceAll(Error.prototype); replaceAll(Number.prototype); bait();",
];

for (const method of METHODS) {
  Deno.test(`a script sees nothing of the host in stacks: ${method.slice(0, 70)}`, async () => {
    const source = `${SPY} ${method}
${
      deciding(
        `if (i !== 1) return; ${STACKS}
  plot("a", 1, "b"); ${LOG}({ i }); isSpying = false;
  ${LOG}("found", found.length, found[0]);`,
        "this.mean = sma(candles.close, 2);",
      )
    }`;
    const { log } = await playScript(source, [10, 11, 12]);
    expect(log.at(-1)).toBe("found 0 undefined");
    expect(log.join("\n")).not.toMatch(/file:|node:|ext:|guest\.ts|realm\.js/);
  });
}

Deno.test("the last error of a script names lines of the script alone, whatever it has replaced", async () => {
  for (const method of METHODS) {
    const source = `${SPY} ${method} ${deciding("if (i === 1) (function named() { null.x; })();")}`;
    const failure = await playScript(source, [10, 11, 12]).then(() => "none", (error) => `${error.message}`);
    expect([method, failure]).toEqual([method, expect.stringMatching(/^Cannot go on at candle 1/)]);
    expect(failure).not.toMatch(/file:|node:|ext:|guest\.ts|realm\.js/);
  }
});
