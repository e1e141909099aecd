import { nearestName } from "./near_names.ts";

/**
 * Notices reads of candles that have not closed. They give NaN, so they cannot pay, and a comparison with one is never true.
 *
 * @param places Gets the places of such reads, at most `placesMax`.
 * @param newest The newest closed candle.
 * @param lookAt Gets the names of members that a column does not have.
 * @returns Makes a column whose reads are looked at.
 */
export function makePeeks(
  places: string[],
  placesMax: number,
  newest: () => number,
  lookAt: (column: object, name: string) => void,
) {
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
    } // The row of a number that is none has a name, too.
    else if (typeof name === "string" && /^[a-z]\w*$/i.test(name) && !/^(?:NaN|Infinity|undefined|null)$/.test(name)) {
      lookAt(column, name);
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
  /** Notices the name of a member that an object does not have. @param hint Takes the place of all its names. */
  look(target: object, what: string, name: string | symbol, hint?: string): void;
  /** Shows a script its own strategy: members that are read before they are set may be set later. */
  showSelf<Self extends object>(self: Self): Self;
  /** Members of its own strategy that the script has read and never set, each as `this.NAME at PLACE ...`. */
  unset(): readonly string[];
}

/** @param found Gets the members that are not there, each with its place. */
export function makeGuard(found: string[], foundMax: number): Guard {
  const targets = new WeakMap<object, object>();
  // The language itself looks for these.
  const asked = ["toJSON", "then"];
  const isMissing = (target: object, name: string | symbol): name is string =>
    typeof name === "string" && !(name in target) && !asked.includes(name);
  const describe = (target: object, name: string, hint?: string): string => {
    const known: string[] = [];
    for (let each = target; each !== Object.prototype && each !== null; each = Object.getPrototypeOf(each)) {
      known.push(...Object.getOwnPropertyNames(each).filter((own) => !asked.includes(own)));
    }
    const near = nearestName(name, known);
    return `is not known: ${near === undefined ? hint ?? `it has ${known.join(", ")}` : `did you mean ${near}?`}`;
  };
  const look = (target: object, what: string, name: string | symbol, hint?: string): void => {
    if (!isMissing(target, name)) return;
    keepPlace(found, foundMax, (place) => `${what}.${name} at ${place} ${describe(target, name, hint)}`);
  };
  const selves: { readonly self: object; readonly places: Map<string, string> }[] = [];
  const showSelf = <Self extends object>(self: Self): Self => {
    // A class's private members are of the object alone, not of one that stands for it.
    if (/\bthis\s*\.\s*#/.test(String(self.constructor))) return self;
    const places = new Map<string, string>();
    selves.push({ self, places });
    const get = (target: Self, name: string | symbol, receiver: unknown): unknown => {
      if (isMissing(target, name) && !places.has(name) && places.size < foundMax) {
        keepPlace([], 1, (place) => {
          places.set(name, place);
          return place;
        });
      }
      return Reflect.get(target, name, receiver);
    };
    return new Proxy<Self>(self, { get });
  };
  const unset = () =>
    selves.flatMap(({ self, places }) =>
      [...places].filter(([name]) => isMissing(self, name))
        .map(([name, place]) => `this.${name} at ${place} ${describe(self, name)}`)
    );
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
    ...{ show, look, showSelf, unset },
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
