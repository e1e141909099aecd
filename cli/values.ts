/** Values of options, and the options that say what trading costs: the same in each command that simulates. */
import { usageError } from "./exit_codes.ts";

export const COMMISSION_OPTION = [
  "--commission <rate>",
  "a share of each fill's value: 0.0005 is 0.05% (default: 0)",
] as const;
export const SLIPPAGE_OPTION = [
  "--slippage-bps <points>",
  "how much worse each fill is, in hundredths of a percent (default: 0)",
] as const;
export const EXECUTION_OPTION = [
  "--execution <json>",
  "other assumptions about fills and costs, as one object",
] as const;

export interface CostOptions {
  readonly commission?: string | undefined;
  readonly slippageBps?: string | undefined;
  readonly execution?: string | undefined;
}

/** The settings of execution that they ask for; absent: none. @throws CommandError for what cannot be read. */
export function readCosts({ commission, slippageBps, execution }: CostOptions): Record<string, unknown> | undefined {
  if (commission === undefined && slippageBps === undefined && execution === undefined) return undefined;
  return {
    ...readObject("--execution", execution ?? "{}"),
    ...(commission === undefined ? {} : { commission: readNumber("--commission", commission) }),
    ...(slippageBps === undefined ? {} : { slippage: { bps: readNumber("--slippage-bps", slippageBps) } }),
  };
}

/** JSON where it is JSON, else the text itself. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @throws CommandError unless the text is a finite number. */
export function readNumber(option: string, text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isFinite(value)) return value;
  throw usageError(`Cannot use ${option} ${text}: it must be a number`);
}

/** @throws CommandError unless the text is one JSON object. */
export function readObject(option: string, text: string): Readonly<Record<string, unknown>> {
  const value = readValue(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw usageError(`Cannot use ${option} ${text}: it must be one JSON object`);
}

/** `fast=24` as a name and a value: JSON where it is JSON, else text. @throws CommandError without both. */
export function readPair(option: string, text: string, example = "fast=24"): [name: string, value: unknown] {
  const at = text.indexOf("=");
  if (at < 1) throw usageError(`Cannot use ${option} ${text}: write a name and a value, as in ${example}`);
  return [text.slice(0, at), readValue(text.slice(at + 1))];
}
