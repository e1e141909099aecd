import type { Layout } from "../../contracts/layout.ts";
import type { Columns } from "./columns.ts";
import type { Memory } from "./memory.ts";
import { nearestName } from "./near_names.ts";

/**
 * Lets stacks show the script's own lines only, for good. Returns the function that describes an error.
 *
 * The sites of a call are the host's: they are read by index and concatenated, so that no method that a script replaces gets hold of one.
 */
export function keepStacks({ file, lineCharsMax, stackCharsMax }: Layout): (error: unknown) => string {
  const { stringify } = JSON;
  const format = (_error: unknown, sites: readonly NodeJS.CallSite[]): string => {
    let text = "";
    for (let n = 0; n < sites.length; n++) {
      const site = sites[n]!;
      if (site.getFileName() !== file) continue;
      const name = site.getFunctionName();
      const place = `${file}:${site.getLineNumber()}:${site.getColumnNumber()}`;
      text += `${text === "" ? "" : "\n"}${name === null ? place : `${name} (${place})`}`;
    }
    return text;
  };
  Object.defineProperty(Error, "prepareStackTrace", { value: format, writable: false, configurable: false });
  // The runtime looks the formatter up at the global of that name: a class of a script's there would be given the sites.
  Object.defineProperty(globalThis, "Error", { value: Error, writable: false, configurable: false });
  return (error) => {
    try {
      const isError = error instanceof Error;
      const message = isError ? `${error.name}: ${error.message}${hintName(error)}` : `it threw ${showValue(error)}`;
      // The runtime may put the line itself before the stack.
      const isPlace = (line: string) => /:\d+:\d+\)?$/.test(line);
      const stack = isError ? String(error.stack ?? "").split("\n").filter(isPlace).join("\n") : "";
      return stringify({ message: message.slice(0, lineCharsMax), stack: stack.slice(0, stackCharsMax) });
    } catch {
      return '{"message":"it threw a value that cannot be shown","stack":""}';
    }
  };
}

/** The name that an unknown one may have meant: a global, or a method of `orders` and `markets`. */
export function hintName({ name, message }: Error): string {
  const methods = "buy sell close closeTrade cancel cancelAll replace protect isWorking of target".split(" ");
  const unknown = name === "ReferenceError" ? /^(\w+) is not defined$/.exec(message)?.[1] : undefined;
  const call = name === "TypeError" ? /^(?!this\b|[A-Z]).*\.(\w+) is not a function$/.exec(message)?.[1] : undefined;
  const given = unknown ?? call;
  if (given === undefined) return "";
  const known = unknown === undefined ? methods : Object.getOwnPropertyNames(globalThis);
  const near = nearestName(given, known);
  return near === undefined ? "" : `: did you mean ${near}?`;
}

/** The global `console`: keeps lines, the first of them, and counts them where the host sees it. */
export function makeLog({ logLinesMax, lineCharsMax, state }: Layout, memory: Memory) {
  const lines: string[] = [];
  // In memory of its own: a slice alone would keep the whole text.
  const copyStart = (text: string): string => ` ${text.slice(0, lineCharsMax)}`.slice(1);
  const log = (...values: readonly unknown[]): void => {
    if (lines.length === logLinesMax) return;
    lines.push(
      lines.length === logLinesMax - 1
        ? `further lines are dropped: a run keeps ${logLinesMax}`
        : copyStart(values.map((value) => copyStart(showValue(value))).join(" ")),
    );
    memory.words[state.logged >>> 2] = lines.length;
  };
  return { lines, console: Object.freeze({ log, info: log, warn: log, error: log, debug: log }) };
}

export function showValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  if (value instanceof Float64Array) return `[${value.subarray(0, 16).join(", ")}${value.length > 16 ? ", ..." : ""}]`;
  try {
    return (typeof value === "object" ? JSON.stringify(value) : undefined) ?? String(value);
  } catch {
    return "(a value that cannot be shown)";
  }
}

/** The global `plot`: a value a candle for each name. @param log Says which plots a run has no room for. */
export function makePlots(
  { plotsMax, plotNameCharsMax, plotValuesMax, plotTime }: Layout,
  { memory, columns, log }: {
    readonly memory: Memory;
    readonly columns: Pick<Columns, "capacity">;
    readonly log: (line: string) => void;
  },
) {
  const names: string[] = [];
  /** Empty where the script leaves it to the values. */
  const panes: unknown[] = [];
  const buffers: ArrayBuffer[] = [];
  const series = new Map<string, Float64Array>();
  const requireText = (what: string, text: unknown): string => {
    const isText = typeof text === "string" && text !== "" && text.length <= plotNameCharsMax;
    if (isText && !/\p{Cc}/u.test(text) && text.isWellFormed()) return text;
    throw new TypeError(
      `${what} must be a text of 1 to ${plotNameCharsMax} characters, none of them a control character`,
    );
  };
  const add = (given: unknown, pane: unknown): Float64Array => {
    const name = requireText("a plot's name", given);
    if (name === plotTime) throw new RangeError(`a plot cannot be named ${plotTime}: the times of plots are`);
    if (pane !== undefined) requireText("a plot's pane", pane);
    if (series.size === plotsMax) throw new RangeError(`a strategy can plot at most ${plotsMax} series`);
    const capacity = columns.capacity();
    const isKept = (names.length + 1) * capacity <= plotValuesMax;
    // A write behind the end of an array is dropped.
    const column = new Float64Array(isKept ? capacity : 0).fill(NaN);
    series.set(name, column);
    if (!isKept) log(`the plot ${name} is not kept: a run keeps ${plotValuesMax} values of all plots together`);
    else {
      names.push(name);
      panes.push(pane ?? "");
      buffers.push(column.buffer);
    }
    return column;
  };
  const plot = (name: string, value: unknown, pane?: unknown): void => {
    if (memory.i < 0) throw new Error("plot is for decide: it draws a value at the deciding candle");
    if (value === undefined || value === null) return;
    if (typeof value !== "number") throw new TypeError(`plot draws numbers, not ${typeof value}`);
    (series.get(name) ?? add(name, pane))[memory.i] = value;
  };
  return { names, panes, buffers, plot };
}
