import { Buffer } from "node:buffer";
import { z } from "zod";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";
import { BUILTINS } from "../../strategies/builtin/catalogue.ts";
import type { SeededRandom } from "../faults/random.ts";

type Shape = z.core.JSONSchema.BaseSchema;

/** The records that a request may refer to. */
export interface Known {
  readonly ids: readonly string[];
  readonly otherIds: readonly string[];
  readonly slugs: readonly string[];
  readonly cursors: readonly string[];
  /** The address of the stand-in for the outside world. */
  readonly outside: string;
  readonly module: Uint8Array;
  /** A word that only the caller may read. */
  readonly mark: string;
}

const EXECUTION = z.toJSONSchema(executionRequestSchema, { io: "input" });
const NAMES = BUILTINS.map(({ name }) => name);
const DATES = ["2024-01-01", "2024-01-02", "2024-01-15", "2024-02-01", "2024-02-29"];
const LATER_DATES = ["2024-03-01", "2024-03-02", "2024-04-01", "2024-06-30"];
const PARAMETER_SCHEMAS = [
  { type: "object" },
  { type: "object", properties: { fast: { type: "integer", minimum: 1, default: 3 } } },
  { type: "object", properties: { a: { type: ["string", "null"] }, b: { enum: [1, "x", null] } } },
  { type: "object", properties: { list: { type: "array", items: { type: "number" }, maxItems: 3 } } },
  { type: "object", properties: {}, additionalProperties: false },
];

/** Makes values that a schema accepts, or nearly. The names of keys supply rules that JSON Schema cannot express. */
export class ValueMaker {
  readonly #random: SeededRandom;
  readonly #known: Known;

  constructor(random: SeededRandom, known: Known) {
    this.#random = random;
    this.#known = known;
  }

  /** @param key The name of the key that will hold the value. */
  make(shape: Shape, key = ""): unknown {
    const named = this.#byName(key, shape);
    if (named !== undefined) return named;
    if (shape.const !== undefined) return shape.const;
    if (shape.enum !== undefined) return this.#random.pick(shape.enum);
    const choices = shape.anyOf ?? shape.oneOf;
    if (choices !== undefined) return this.#one(this.#random.pick(choices), key);
    const type = Array.isArray(shape.type) ? this.#random.pick(shape.type) : shape.type;
    switch (type) {
      case "object":
        return this.#object(shape);
      case "array":
        return Array.from({ length: 1 + this.#random.below(3) }, () => this.#one(shape.items, key));
      case "string":
        return this.#text(shape);
      case "number":
      case "integer":
        return this.#number(shape, type === "integer");
      case "boolean":
        return this.#random.below(2) === 0;
      case "null":
        return null;
      default:
        return this.anything();
    }
  }

  /** Any small JSON value. */
  anything(depth = 0): unknown {
    const kinds = depth < 3 ? 6 : 4;
    switch (this.#random.below(kinds)) {
      case 0:
        return this.#random.pick([0, 1, -1, 0.5, 1e308, -0, 2 ** 53]);
      case 1:
        return this.#random.pick(["", "x", "ünï", "0"]);
      case 2:
        return this.#random.below(2) === 0;
      case 3:
        return null;
      case 4:
        return Array.from({ length: this.#random.below(3) }, () => this.anything(depth + 1));
      default:
        return Object.fromEntries(["a", "b"].map((key) => [key, this.anything(depth + 1)]));
    }
  }

  #one(shape: Shape["items"], key: string): unknown {
    return typeof shape === "object" && !Array.isArray(shape) ? this.make(shape, key) : null;
  }

  #object(shape: Shape): Record<string, unknown> {
    const required = new Set(shape.required ?? []);
    const made: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(shape.properties ?? {})) {
      // Drawn for every key, so that the sequence does not depend on the required keys.
      const isWanted = this.#random.below(3) === 0;
      if (required.has(key) || isWanted) made[key] = this.#one(inner, key);
    }
    return made;
  }

  #text({ minLength = 0, maxLength = 40 }: Shape): string {
    const length = Math.min(maxLength, minLength + this.#random.below(12));
    return Array.from({ length }, () => this.#random.pick([..."abcxyz019-"])).join("");
  }

  #number({ minimum, exclusiveMinimum, maximum }: Shape, isWhole: boolean): number {
    const above = typeof exclusiveMinimum === "number" ? exclusiveMinimum : -1000;
    const least = Math.max(minimum ?? above, -1e6);
    const most = Math.min(maximum ?? 1000, 1e6);
    const edges = [least, most, (least + most) / 2].map((value) => isWhole ? Math.round(value) : value);
    return this.#random.pick([...edges, Math.min(most, Math.max(least, 10)), Math.min(most, Math.max(least, 1))]);
  }

  /** A usual value of a key with this name. */
  #byName(key: string, shape: Shape): unknown {
    const { known, random } = { known: this.#known, random: this.#random };
    switch (key) {
      case "symbol":
        return random.pick(["DEMO", "DEMO", "DEMO", "FUZZ", "BTCUSDT", "EUR/USD", "ünï 🙂"]);
      case "exchange":
        return random.pick(["SAMPLE", "SAMPLE", "SAMPLE", "BINANCE", "nowhere"]);
      case "id":
      case "run_id":
        return random.pick([...known.ids.slice(-8), ...known.otherIds.slice(-1), NOBODYS_ID]);
      case "slug":
        return random.pick([
          ...known.slugs.slice(-8),
          "sma-cross",
          `fuzz-${random.below(1000)}`,
          `fuzz-${random.below(1000)}`,
        ]);
      case "strategy":
        // In a backtest it is a name, in a registration an object.
        return shape.type === "string" ? random.pick([...NAMES, `Strategy of ${known.mark}`]) : undefined;
      case "start_date":
      case "startDate":
      case "backfill_from":
        return random.pick(DATES);
      case "end_date":
      case "endDate":
        return random.pick(LATER_DATES);
      case "cursor":
        return random.pick([...known.cursors.slice(-8), "MA", "eA"]);
      case "version":
        return shape.type === "string" ? random.pick(["1", "1.0", "2", "3.1.4", `${random.below(999)}`]) : undefined;
      default:
        return this.#byRareName(key);
    }
  }

  #byRareName(key: string): unknown {
    const { known, random } = { known: this.#known, random: this.#random };
    switch (key) {
      case "limit":
        return random.pick([1, 2, 50, 200]);
      case "points":
        return random.pick([2, 3, 500]);
      case "wait":
        return random.pick([0, 0, 1]);
      case "initial_balance":
        return random.pick([1e-9, 1, 10_000, 1e12]);
      case "parameters":
        return this.#parameters();
      case "default_config":
        return random.pick([{}, { fast: 4 }, { timeframe: "1h" }, { execution: { leverage: 2 } }]);
      case "parameter_schema":
        return random.pick(PARAMETER_SCHEMAS);
      case "default_frequency":
        return random.pick(["DAILY", "minute", "1h"]);
      case "endpoint":
        return `${known.outside}/strategy?token=${known.mark}`;
      case "moduleUrl":
        return `${known.outside}/module.wasm?token=${known.mark}`;
      case "content_base64":
        return Buffer.from(known.module).toString("base64");
      case "email":
        return random.pick(["fuzz@example.com", `${random.below(1e9)}@example.com`, "no address"]);
      case "password":
      case "newPassword":
        return random.pick(["correct horse battery", "short"]);
      case "schedule":
        return random.pick(["0 0 1 1 *", null]);
      case "is_public":
        return random.below(8) === 0;
      default:
        return undefined;
    }
  }

  #parameters(): Record<string, unknown> {
    const { random, known } = { random: this.#random, known: this.#known };
    const [fast, slow] = [1 + random.below(5), 6 + random.below(30)];
    const timeframe = random.pick(["1h", "1h", "1d", "4h", "1m"]);
    const execution = this.#object(EXECUTION);
    const runtime = random.pick([
      { slug: random.pick([...known.slugs.slice(-4), "sma-cross", "buy-and-hold"]) },
      { type: "remote", endpoint: `${known.outside}/strategy?token=${known.mark}`, timeoutMs: 2000 },
      { type: "wasm", artifact: { content_base64: Buffer.from(known.module).toString("base64") } },
      { slug: "sma-cross", version: "0" },
    ]);
    return {
      timeframe,
      ...(random.below(2) === 0 ? { fast, slow } : {}),
      ...(random.below(3) === 0 ? { execution } : {}),
      ...(random.below(4) === 0 ? { runtime } : {}),
      ...(random.below(4) === 0 ? { note: known.mark } : {}),
    };
  }
}

/** A well-formed id that names no record. */
export const NOBODYS_ID = "01900000-0000-7000-8000-000000000000";
