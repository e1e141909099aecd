import { nearestName } from "./near_names.ts";

/**
 * Notices reads of candles that have not closed. They give NaN, so they cannot pay, and a comparison with one is never true.
 *
 * @param places Gets the places of such reads, at most `placesMax`.
 * @param newest The newest closed candle.
 * @returns Makes a column whose reads are looked at.
 */
export function makePeeks(places: string[], placesMax: number, newest: () => number) {
  const look = (index: number): void => {
    if (index > newest()) keepPlace(places, placesMax, (place) => place);
  };
  const get = (column: Float64Array, name: string | symbol): unknown => {
    const index = typeof name === "string" ? Number(name) : NaN;
    if (Number.isInteger(index)) look(index);
    else if (name === "at") {
      return (at: number) => {
        look(at < 0 ? column.length + at : at);
        return column.at(at);
      };
    }
    const value: unknown = Reflect.get(column, name);
    return typeof value === "function" ? value.bind(column) : value;
  };
  return (column: Float64Array<ArrayBuffer>) => new Proxy<Float64Array<ArrayBuffer>>(column, { get });
}

/** Shows a script its objects so that a read of a member which they do not have is noticed. */
export interface Guard {
  /** @param what The object in words, as in `account`. */
  show<Shown extends object>(shown: Shown, what: string): Shown;
  /** The object behind one that was shown. */
  behind(value: unknown): unknown;
}

/** @param found Gets the members that are not there, each with its place. */
export function makeGuard(found: string[], foundMax: number): Guard {
  const targets = new WeakMap<object, object>();
  // The language itself looks for these.
  const asked = ["toJSON", "then"];
  const look = (target: object, what: string, name: string | symbol): void => {
    if (typeof name === "symbol" || name in target || asked.includes(name)) return;
    const known: string[] = [];
    for (let each = target; each !== Object.prototype && each !== null; each = Object.getPrototypeOf(each)) {
      known.push(...Object.getOwnPropertyNames(each).filter((own) => !asked.includes(own)));
    }
    const near = nearestName(name, known);
    const hint = near === undefined ? `it has ${known.join(", ")}` : `did you mean ${near}?`;
    keepPlace(found, foundMax, (place) => `${what}.${name} at ${place} is not known: ${hint}`);
  };
  const open = (value: unknown, name: string | symbol): unknown => {
    if (name === "trades" || name === "closedTrades") {
      const trades: readonly object[] = Object(value);
      return Object.freeze(trades.map((each) => show(each, "trade")));
    }
    return value;
  };
  const show = <Shown extends object>(shown: Shown, what: string): Shown => {
    const get = (target: Shown, name: string | symbol): unknown => {
      look(target, what, name);
      return open(Reflect.get(target, name), name);
    };
    const proxy = new Proxy<Shown>(shown, { get });
    targets.set(proxy, shown);
    return proxy;
  };
  return {
    show,
    behind: (value) => typeof value === "object" && value !== null ? targets.get(value) ?? value : value,
  };
}

/** Adds the line of the script that runs now to texts, unless it is among them, or they are many. */
export function keepPlace(texts: string[], textsMax: number, describe: (place: string) => string): void {
  if (texts.length === textsMax) return;
  // The stack has the script's own lines alone (output.ts).
  const text = describe(String(new Error().stack).split("\n").find((line) => /:\d+:\d+\)?$/.test(line)) ?? "");
  if (!texts.includes(text)) texts.push(text);
}
