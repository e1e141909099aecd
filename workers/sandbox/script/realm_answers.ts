/** The answers of a script's realm: a script may have taken it over, so nothing that comes out of it is believed. */
import { types } from "node:util";
import { RunError } from "../../common/outcome.ts";
import { LINE_CHARS_MAX, STACK_CHARS_MAX, STACK_LINES_MAX } from "../contracts/log_bounds.ts";
import { COLUMNS_MAX, FAILURE_CHARS_MAX, REQUESTS_CHARS_MAX } from "../contracts/layout.ts";

/** Most inputs and numbers of an indicator: none of ours has more. */
const ARGUMENTS_MAX = 16;
const NAME_CHARS_MAX = 64;
/** Lists and objects within each other: as many as the body of a request may have. */
const LEVELS_MAX = 32;

/** A script's own error, as its realm describes it. */
export class ScriptError extends Error {
  override readonly name = "ScriptError";
  readonly #message: string;
  readonly #stack: string;

  constructor(description: unknown) {
    super("the script failed");
    const { message, stack }: { message?: unknown; stack?: unknown } = Object(parse(description, FAILURE_CHARS_MAX));
    this.#message = typeof message === "string" ? message : "it threw a value that cannot be shown";
    this.#stack = typeof stack === "string" ? stack.slice(0, STACK_CHARS_MAX) : "";
  }

  /** The message, and the first line of the stack: neither pushes out the other, however long it is. */
  describe(): string {
    const place = (this.stackLines()[0] ?? "").slice(0, LINE_CHARS_MAX / 2);
    return `${clean(this.#message).slice(0, LINE_CHARS_MAX - place.length)}${place}`;
  }

  /** The lines of the stack, the first of them. */
  stackLines(): readonly string[] {
    const lines = this.#stack.split("\n").filter((line) => line !== "");
    return lines.slice(0, STACK_LINES_MAX).map((line) => clean(` at ${line}`));
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
    if (isOurs(error)) throw error;
    throw brokenRealm("its functions fail");
  }
}

/** True for an error of this realm. A value of a script's may have a proxy as prototype, whose traps run here: it has no prototype of ours. */
export function isOurs(error: unknown): error is Error {
  try {
    return error instanceof Error;
  } catch {
    return false;
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

/** A realm's text of at most `charsMax` characters. Its length is looked at first: a text may be joined of many, and of any size. */
export function askText(call: () => unknown, what: string, charsMax: number): string {
  const text = ask(call);
  if (typeof text !== "string") throw brokenRealm(`${what} is no text`);
  if (text.length <= charsMax) return text;
  throw brokenRealm(`${what} has ${text.length} characters: at most ${charsMax} are taken`);
}

/** The value of a realm's JSON; null for anything else, for more characters, and for lists in lists that nothing of ours could write. */
export function parse(json: unknown, charsMax: number): unknown {
  if (typeof json !== "string" || json.length > charsMax || isTooDeep(json)) return null;
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** True for a JSON of more levels than any of ours has. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const letter = json[at];
    if (letter === '"') isText = !isText;
    else if (isText) at += Number(letter === "\\");
    else if (letter === "[" || letter === "{") {
      if (++depth > LEVELS_MAX) return true;
    } else if (letter === "]" || letter === "}") depth--;
  }
  return false;
}

/** A request for an indicator, whose columns are not looked up yet. */
export interface ReadRequest {
  readonly name: string;
  readonly inputs: readonly unknown[];
  readonly numbers: readonly number[];
  readonly texts: readonly string[];
}

/** The columns that a script asks for. @throws {RunError} */
export function readRequests(json: unknown): readonly ReadRequest[] {
  const requests = parse(json, REQUESTS_CHARS_MAX);
  if (Array.isArray(requests) && requests.length <= COLUMNS_MAX && requests.every(isRequest)) return requests;
  throw brokenRealm("its requests are none");
}

function isRequest(value: unknown): value is ReadRequest {
  if (
    typeof value !== "object" || value === null ||
    !("name" in value && "inputs" in value && "numbers" in value && "texts" in value)
  ) {
    return false;
  }
  const { name, inputs, numbers, texts } = value;
  return typeof name === "string" && name.length <= NAME_CHARS_MAX && isShort(inputs) && isShort(numbers) &&
    numbers.every((number) => typeof number === "number") && isShort(texts) &&
    texts.every((text) => typeof text === "string" && text.length <= NAME_CHARS_MAX);
}

function isShort(list: unknown): list is readonly unknown[] {
  return Array.isArray(list) && list.length <= ARGUMENTS_MAX;
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
