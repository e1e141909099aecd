/** From the form's texts to `parameters.execution`, and back. */
import type { Backtest } from "../../api.ts";
import { defaultOf, EXECUTION_FIELDS, type ExecutionField } from "./execution_fields.ts";
import { isRecord } from "../../parts/parameter_fields.ts";

type Rules = Readonly<Record<string, unknown>>;

/** The rules of a run that is repeated; none of a new one. */
export function executionOf(backtest: Pick<Backtest, "parameters"> | undefined): Rules {
  const execution = backtest?.parameters["execution"];
  return isRecord(execution) ? execution : {};
}

/** The text of each field: empty where the rule is the profile's default. */
export function toTexts(execution: Rules): string[] {
  const profile = String(execution["profile"]);
  return EXECUTION_FIELDS.map((field) => {
    const value = readKey(execution, field.key);
    return value === undefined || value === defaultOf(field, profile) ? "" : String(value);
  });
}

/** How many texts differ from the profile's defaults. */
export function countChanges(texts: readonly string[]): number {
  return texts.filter((text) => text.trim() !== "").length;
}

/** Why a text cannot be a rule; undefined where it can. */
export function findRuleFault({ default: fallback, min, max }: ExecutionField, text: string): string | undefined {
  if (text.trim() === "" || typeof fallback !== "number") return undefined;
  const value = Number(text);
  if (Number.isNaN(value)) return "Enter a number";
  if (min !== undefined && value < min) return `Enter ${min} or more`;
  return max !== undefined && value > max ? `Enter ${max} or less` : undefined;
}

/**
 * The rules to submit.
 *
 * @param earlier The rules of the run that is repeated. Those that the form does not offer stay, unless the profile changes.
 */
export function toRules(profile: string, texts: readonly string[], earlier: Rules): Rules {
  const isSameProfile = earlier["profile"] === profile;
  let rules: Rules = { ...(isSameProfile ? earlier : {}), profile };
  for (const [i, field] of EXECUTION_FIELDS.entries()) {
    const text = texts[i]?.trim() ?? "";
    const value = text === "" ? defaultOf(field, profile) : fromText(field, text);
    if (value === (readKey(rules, field.key) ?? defaultOf(field, profile))) continue;
    // The other models of slippage have other keys, which cannot stand beside this one.
    rules = field.key === "slippage.bps" ? { ...rules, slippage: { bps: value } } : setKey(rules, field.key, value);
  }
  return isRecord(rules["sizing"]) ? { ...rules, sizing: { ...DEFAULT_SIZING, ...rules["sizing"] } } : rules;
}

// A size needs its kind, and a kind its size.
const DEFAULT_SIZING = Object.fromEntries(
  EXECUTION_FIELDS.filter(({ key }) => key.startsWith("sizing.")).map((field) => [field.key.slice(7), field.default]),
);

function fromText({ default: fallback }: ExecutionField, text: string): unknown {
  if (typeof fallback === "number") return Number(text);
  return typeof fallback === "boolean" ? text === "true" : text;
}

/** Sets a key such as `commission.rate` in a copy of the rules. */
function setKey(rules: Rules, key: string, value: unknown): Rules {
  const [first = "", second] = key.split(".");
  const inner = rules[first];
  return { ...rules, [first]: second === undefined ? value : { ...(isRecord(inner) ? inner : {}), [second]: value } };
}

/** Reads a key such as `commission.rate`. */
function readKey(rules: Rules, key: string): unknown {
  return key.split(".").reduce<unknown>((value, part) => isRecord(value) ? value[part] : undefined, rules);
}
