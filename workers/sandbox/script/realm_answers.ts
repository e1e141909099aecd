/** The answers of a script's realm: a script may have taken it over, so nothing that comes out of it is believed. */
import { types } from "node:util";
import { RunError } from "../../outcome.ts";

const LINE_CHARS_MAX = 1024;

/** A script's own error, as its realm describes it. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
  readonly #description: unknown;

  constructor(description: unknown) {
    super("the script failed");
    this.#description = description;
  }

  /** The message, and the first line of the stack. */
  describe(): string {
    const { message } = { message: "", ...Object(parse(this.#description)) };
    const [place = ""] = this.stackLines();
    return clean(`${message}${place}`);
  }

  stackLines(): readonly string[] {
    const { stack } = { stack: "", ...Object(parse(this.#description)) };
    return String(stack).split("\n").filter((line) => line !== "").map((line) => clean(` at ${line}`));
  }
}

/** True for a whole number from 0 to `max`. */
export function isWhole(value: unknown, max: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= max;
}

/** The value of a call into a realm. @throws {RunError} When even our functions there throw. */
export function ask(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    // An error of the realm is none of ours.
    if (error instanceof Error) throw error;
    throw brokenRealm("its functions fail");
  }
}

/** The end of a script whose realm answers what ours never would. @param reason As the rest of a sentence. */
export function brokenRealm(reason: string): RunError {
  return new RunError("STRATEGY_FAILED", `Cannot go on: the script has broken its own realm: ${reason}`);
}

/** @throws {RunError} When a realm gives something else than a buffer of at least this size. */
export function requireBuffer(call: () => unknown, byteLengthMin: number): ArrayBuffer {
  const value = ask(call);
  if (types.isArrayBuffer(value) && value.byteLength >= byteLengthMin) return value;
  throw brokenRealm("it gives no buffer");
}

/** A realm's list of texts; an empty one for anything else. */
export function parseTexts(call: () => unknown, countMax: number): string[] {
  try {
    const texts = parse(ask(call));
    return Array.isArray(texts) ? texts.slice(0, countMax).map(String) : [];
  } catch (error) {
    if (error instanceof RunError) return [];
    throw error;
  }
}

/** The value of a realm's JSON; null for anything else. */
export function parse(json: unknown): unknown {
  if (typeof json !== "string") return null;
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

interface ReadRequest {
  readonly name: string;
  readonly inputs: readonly unknown[];
  readonly numbers: readonly number[];
}

/** The columns that a script asks for. @throws {RunError} */
export function readRequests(json: unknown): readonly ReadRequest[] {
  const requests = parse(json);
  if (Array.isArray(requests) && requests.every(isRequest)) return requests;
  throw brokenRealm("its requests are none");
}

function isRequest(value: unknown): value is ReadRequest {
  if (typeof value !== "object" || value === null || !("name" in value && "inputs" in value && "numbers" in value)) {
    return false;
  }
  const { name, inputs, numbers } = value;
  return typeof name === "string" && Array.isArray(inputs) && Array.isArray(numbers) &&
    numbers.every((number) => typeof number === "number");
}

/** An input: a column by its number, or a constant. @throws {RunError} When it is neither. */
export function readColumn(input: unknown, columns: readonly Float64Array[], length: number): Float64Array {
  const column = typeof input === "number" ? columns[input] : undefined;
  if (column !== undefined) return column;
  const constant: unknown = Reflect.get(Object(input), "constant");
  if (typeof constant === "number") return new Float64Array(length).fill(constant);
  throw brokenRealm("it asks for no column");
}

/** A text of the script on one line of at most 1,024 characters. */
export function clean(text: string): string {
  return text.replace(/\p{Cc}+/gu, " ").slice(0, LINE_CHARS_MAX);
}
