/** Takes away the clock, chance, the machine's language and time zone, other threads, and code made from texts; freezes methods. */
export function takeAway(): void {
  const reasons: Readonly<Record<string, string>> = {
    Date: "a strategy has no clock: candles.time has the time, and utc(time) its parts",
    Temporal: "a strategy has no clock: candles.time has the time, and utc(time) its parts",
    Intl: "a strategy does not depend on a language",
    require: "a script is one file; bundle what it needs into it",
    eval: "a strategy makes no code from texts",
    Function: "a strategy makes no code from texts",
    WebAssembly: "a strategy makes no code from bytes",
    SharedArrayBuffer: "a strategy has one thread",
    Atomics: "a strategy has one thread",
    WeakRef: "a strategy does not depend on the collection of garbage",
    FinalizationRegistry: "a strategy does not depend on the collection of garbage",
    queueMicrotask: "nothing waits within a candle",
    Promise: "nothing waits within a candle",
    ShadowRealm: "a strategy makes no code from texts",
  };
  // To replace it would make it first, which takes as long as all the rest.
  Reflect.deleteProperty(globalThis, "Temporal");
  for (const [name, reason] of Object.entries(reasons)) refuse(globalThis, name, reason);
  refuse(Math, "random", "a strategy has no chance: the same candles give the same orders");
  const local = "a strategy does not depend on a language";
  const typed = Object.getPrototypeOf(Float64Array.prototype);
  for (const prototype of [Object.prototype, Array.prototype, Number.prototype, BigInt.prototype, typed]) {
    refuse(prototype, "toLocaleString", local);
  }
  for (const name of ["localeCompare", "toLocaleLowerCase", "toLocaleUpperCase"]) refuse(String.prototype, name, local);
  // Moving a buffer elsewhere would empty the columns.
  for (const name of ["transfer", "transferToFixedLength", "resize"]) {
    Reflect.deleteProperty(ArrayBuffer.prototype, name);
  }
  freezeMethods();
}

/**
 * Freezes the language's own methods, of which nothing else inherits: a script can replace one where it is kept, and cannot change the
 * function itself. So they need not be looked at between scripts (watch.ts).
 */
export function freezeMethods(): void {
  const { ownKeys, getOwnPropertyDescriptor } = Reflect;
  const { freeze, hasOwn, getPrototypeOf } = Object;
  const parent = getPrototypeOf(freeze);
  const freezeIn = (owner: object): void => {
    for (const key of ownKeys(owner)) {
      const { value, get, set } = getOwnPropertyDescriptor(owner, key)!;
      for (const each of [value, get, set]) {
        if (typeof each === "function" && each !== parent && !hasOwn(each, "prototype")) freeze(each);
      }
    }
  };
  for (const name of ownKeys(globalThis)) {
    const value: unknown = getOwnPropertyDescriptor(globalThis, name)?.value;
    if (typeof value !== "object" && typeof value !== "function" || value === null) continue;
    freezeIn(value);
    const prototype: unknown = getOwnPropertyDescriptor(value, "prototype")?.value;
    if (typeof prototype === "object" && prototype !== null) freezeIn(prototype);
  }
}

/** Makes each use of a property an error that says why. */
export function refuse(owner: object, name: string, reason: string): void {
  const get = () => {
    throw new TypeError(`${name} cannot be used: ${reason}`);
  };
  Object.defineProperty(owner, name, { get, configurable: false, enumerable: false });
}

/** Adds the globals of a script. @param isReplaced Those of another take their place. */
export function share(globals: Readonly<Record<string, unknown>>, isReplaced: boolean): void {
  for (const [name, value] of Object.entries(globals)) {
    Object.defineProperty(globalThis, name, { value, writable: false, configurable: isReplaced, enumerable: false });
  }
}

/** The global `utc`: the parts of a time. */
export function makeUtc(): (time: number) => object {
  const Time = Date;
  return (time) => {
    const date = new Time(time);
    return {
      year: date.getUTCFullYear(),
      month: date.getUTCMonth() + 1,
      day: date.getUTCDate(),
      weekday: date.getUTCDay(),
      hour: date.getUTCHours(),
      minute: date.getUTCMinutes(),
    };
  };
}

export function isCallable(value: unknown): value is (...args: unknown[]) => unknown {
  return typeof value === "function";
}

export function refusePromise(name: string, answer: unknown): void {
  if (typeof answer !== "object" || answer === null || !("then" in answer)) return;
  throw new TypeError(`${name} must not be async: nothing waits within a candle`);
}

/** A script's value in an error. It asks the value nothing: a text may be of any length, and an object's own methods may never end. */
export function nameValue(value: unknown): string {
  if (typeof value === "string") return value === "" ? '""' : value.length <= 40 ? value : `${value.slice(0, 40)}...`;
  const isPlain = typeof value === "number" || typeof value === "boolean" || value === null || value === undefined;
  if (isPlain) return String(value);
  return Array.isArray(value) ? "an array" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}
