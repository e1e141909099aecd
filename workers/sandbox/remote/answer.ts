import { BY_DEFAULT, BY_UNITS, newDraft, ORDER_TYPES, type OrderDraft, SIZES_BY } from "../../../engine/strategy.ts";
import { AnswerError, isObject, parseJson, show } from "./answer_fault.ts";
import { type Drawn, readPlots } from "./plots.ts";

/** The version and the limits that strategies/REMOTE.md specifies. */
export const PROTOCOL_VERSION = 1;
const ACTIONS_PER_CANDLE_MAX = 64;
const NAME_CHARACTERS_MAX = 64;
const COUNT_MAX = 2 ** 31 - 1;

const WHENS = ["always", "flat", "in_position", "long", "short", "not_long", "not_short"] as const;
export type When = (typeof WHENS)[number];

/** One action at a candle's close, checked. */
export type Action =
  | { readonly action: "order"; readonly when: When; readonly id: string | null; readonly fields: OrderFields }
  | { readonly action: "replace"; readonly when: When; readonly id: string; readonly fields: OrderFields }
  | { readonly action: "cancel"; readonly when: When; readonly id: string }
  | { readonly action: "cancel_all"; readonly when: When }
  | {
    readonly action: "close";
    readonly when: When;
    readonly fraction: number;
    readonly trade: number | null;
    readonly tag: string | null;
  }
  | {
    readonly action: "protect";
    readonly when: When;
    readonly trade: number | null;
    /** NaN: none; null: as it is. */
    readonly stopLoss: number | null;
    readonly takeProfit: number | null;
  };

/** The fields of an order that the answer has; a draft holds the rest. */
type OrderFields = Readonly<Partial<OrderDraft>>;

const NONE: readonly Action[] = [];
const ACTIONS = ["order", "replace", "cancel", "cancel_all", "close", "protect"] as const;
const SIDES = ["sell", "buy"] as const;
const SIZE_NAMES = SIZES_BY.filter((_, index) => index !== BY_DEFAULT);
const AMOUNTS = [
  ["size", "size"],
  ["limit_price", "limitPrice"],
  ["stop_price", "stopPrice"],
  ["stop_loss", "stopLoss"],
  ["take_profit", "takeProfit"],
  ["stop_loss_fraction", "stopLossFraction"],
  ["take_profit_fraction", "takeProfitFraction"],
  ["trail_distance", "trailDistance"],
  ["trail_fraction", "trailFraction"],
] as const;
const COUNTS = [["candles_max", "candlesMax"], ["time_stop_candles", "timeStopCandles"]] as const;

const ORDER_KEYS = ["side", "type", "size_by", "reduce_only", "tag", ...[...AMOUNTS, ...COUNTS].map(([key]) => key)];
/** The allowed keys of each action. */
const KEYS: Readonly<Record<(typeof ACTIONS)[number], ReadonlySet<string>>> = {
  order: new Set(["action", "when", "id", ...ORDER_KEYS]),
  replace: new Set(["action", "when", "id", ...ORDER_KEYS]),
  cancel: new Set(["action", "when", "id"]),
  cancel_all: new Set(["action", "when"]),
  close: new Set(["action", "when", "fraction", "trade", "tag"]),
  protect: new Set(["action", "when", "trade", "stop_loss", "take_profit"]),
};

/** The asked candles of a request, and its place among the pages of an answer. */
interface Asked {
  /** Number of the first asked candle on the wire. */
  readonly first: number;
  readonly count: number;
  /** True if an earlier page has said that this one follows. */
  readonly isContinued: boolean;
}

/** A whole answer, or a page of one. */
export interface Page {
  /** The actions of each candle that it decides on, from the first asked one on. */
  readonly decisions: readonly (readonly Action[])[];
  readonly series: Drawn["series"];
  /** True if the rest of the asked candles is still to be asked for. */
  readonly more: boolean;
}

/**
 * Reads an answer's body.
 *
 * @throws {AnswerError} Naming the first fault by its JSON pointer.
 */
export function readAnswer(body: Uint8Array, { first, count, isContinued }: Asked): Page {
  const answer = parseJson(body);
  if (!isObject(answer)) throw new AnswerError(0, `the answer must be a JSON object, not ${show(answer)}`);
  if (answer["version"] !== PROTOCOL_VERSION) {
    throw new AnswerError(0, `/version must be ${PROTOCOL_VERSION}, not ${show(answer["version"])}`);
  }
  const decisions = answer["decisions"];
  if (!Array.isArray(decisions)) throw new AnswerError(0, `/decisions must be a list, not ${show(decisions)}`);
  const more = answer["more"] ?? false;
  if (typeof more !== "boolean") throw new AnswerError(0, `/more must be a boolean, not ${show(more)}`);
  if ((more || isContinued) && answer["first_asked"] !== first) {
    throw new AnswerError(0, `/first_asked of a page must be ${first}, not ${show(answer["first_asked"])}`);
  }
  if (more ? decisions.length < 1 || decisions.length >= count : decisions.length !== count) {
    const asked = Math.min(decisions.length, count - 1);
    const expected = more ? `1 to ${count - 1} entries when /more is true` : `${count} entries, one for each candle`;
    throw new AnswerError(asked, `/decisions must have ${expected}, not ${decisions.length}`);
  }
  const series = readPlots(answer, decisions.length);
  return { decisions: decisions.map((actions: unknown, asked) => readActions(actions, asked)), series, more };
}

/** @param path The JSON pointer of the list. @throws {AnswerError} */
export function readActions(
  actions: unknown,
  asked: number,
  path: string = `/decisions/${asked}`,
): readonly Action[] {
  if (!Array.isArray(actions)) throw new AnswerError(asked, `${path} must be a list, not ${show(actions)}`);
  if (actions.length === 0) return NONE;
  if (actions.length > ACTIONS_PER_CANDLE_MAX) {
    const limit = `must have at most ${ACTIONS_PER_CANDLE_MAX} actions, not ${actions.length}`;
    throw new AnswerError(asked, `${path} ${limit}`);
  }
  return actions.map((action: unknown, index) => new ActionReader(action, asked, `${path}/${index}`).read());
}

/** Reads one action field by field; its faults name the JSON pointer. */
class ActionReader {
  readonly #asked: number;
  readonly #path: string;
  readonly #from: Readonly<Record<string, unknown>>;

  constructor(from: unknown, asked: number, path: string) {
    this.#asked = asked;
    this.#path = path;
    if (!isObject(from)) throw new AnswerError(asked, `${path} must be an object, not ${show(from)}`);
    this.#from = from;
  }

  read(): Action {
    const action = this.#choice("action", ACTIONS) ?? "order";
    for (const key in this.#from) {
      if (!KEYS[action].has(key)) throw this.#wrong(key, `is not a key of the action "${action}"`);
    }
    const when = this.#choice("when", WHENS) ?? "always";
    switch (action) {
      case "order":
        return { action, when, id: this.#name("id"), fields: this.#readOrder() };
      case "replace":
        return { action, when, id: this.#requireId(), fields: this.#readOrder() };
      case "cancel":
        return { action, when, id: this.#requireId() };
      case "cancel_all":
        return { action, when };
      case "close": {
        const fraction = this.#amount("fraction") ?? 1;
        return { action, when, fraction, trade: this.#count("trade") ?? null, tag: this.#name("tag") };
      }
      case "protect": {
        const prices = { stopLoss: this.#guard("stop_loss"), takeProfit: this.#guard("take_profit") };
        return { action, when, trade: this.#count("trade") ?? null, ...prices };
      }
    }
  }

  #readOrder(): OrderFields {
    const fields: Partial<OrderDraft> = {};
    const side = this.#choice("side", SIDES);
    if (side === undefined) throw this.#wrong("side", 'must be "buy" or "sell", not missing');
    fields.side = side === "buy" ? 1 : -1;
    const type = this.#choice("type", ORDER_TYPES);
    if (type !== undefined) fields.type = ORDER_TYPES.indexOf(type);
    for (const [key, field] of AMOUNTS) {
      const amount = this.#amount(key);
      if (amount !== undefined) fields[field] = amount;
    }
    for (const [key, field] of COUNTS) {
      const count = this.#count(key);
      if (count !== undefined) fields[field] = count;
    }
    const sizeBy = this.#choice("size_by", SIZE_NAMES);
    if (sizeBy !== undefined && fields.size === undefined) throw this.#wrong("size", "is missing beside size_by");
    if (sizeBy !== undefined) fields.sizeBy = SIZES_BY.indexOf(sizeBy);
    else if (fields.size !== undefined) fields.sizeBy = BY_UNITS;
    const reduceOnly = this.#from["reduce_only"] ?? false;
    if (typeof reduceOnly !== "boolean") throw this.#wrong("reduce_only", `must be a boolean, not ${show(reduceOnly)}`);
    if (reduceOnly) fields.reduceOnly = true;
    const tag = this.#name("tag");
    if (tag !== null) fields.tag = tag;
    return fields;
  }

  /** One of the names; undefined when absent or null. */
  #choice<Name extends string>(key: string, names: readonly Name[]): Name | undefined {
    const value = this.#from[key];
    if (value === undefined || value === null) return undefined;
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    throw this.#wrong(key, `must be one of ${names.map((name) => `"${name}"`).join(", ")}, not ${show(value)}`);
  }

  /** A finite number; undefined when absent or null. JSON can write infinity as 1e999. */
  #amount(key: string): number | undefined {
    const value = this.#from[key];
    if (value === undefined || value === null) return undefined;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw this.#wrong(key, `must be a finite number, not ${show(value)}`);
  }

  #count(key: string): number | undefined {
    const value = this.#amount(key);
    if (value === undefined || (Number.isInteger(value) && value >= 0 && value <= COUNT_MAX)) return value;
    throw this.#wrong(key, `must be a whole number from 0 to ${COUNT_MAX}, not ${value}`);
  }

  #name(key: string): string | null {
    const value = this.#from[key] ?? null;
    if (value === null || (typeof value === "string" && value.length <= NAME_CHARACTERS_MAX)) return value;
    throw this.#wrong(key, `must be a text of at most ${NAME_CHARACTERS_MAX} characters, not ${show(value)}`);
  }

  #requireId(): string {
    const id = this.#name("id");
    if (id === null) throw this.#wrong("id", "is missing");
    return id;
  }

  /** A price; NaN for an explicit null, which removes the guard; null where it is left out and stays. */
  #guard(key: string): number | null {
    return this.#from[key] === undefined ? null : this.#amount(key) ?? NaN;
  }

  #wrong(key: string, message: string): AnswerError {
    return new AnswerError(this.#asked, `${this.#path}/${key.slice(0, NAME_CHARACTERS_MAX)} ${message}`);
  }
}

/** Resets a draft and fills in an order's fields. */
export function fillDraft(draft: OrderDraft, fields: OrderFields): OrderDraft {
  return Object.assign(draft, BLANK, fields);
}

const BLANK: Readonly<OrderDraft> = newDraft();
