import { codeOf, describeError, type StrategyRequest } from "../../api.ts";

/** The code of a strategy, as it is submitted. */
export type RuntimeConfig = StrategyRequest["initial_version"]["runtime_config"];

/** A check's refusal of code. */
export interface CodeRefusal {
  readonly subject: "module" | "script";
  readonly reason: string;
  /** The text of a script that was submitted; it may have been changed since. */
  readonly source: string;
}

/** The refusal of submitted code; null for any other error. */
export function codeRefusalOf(error: unknown, config?: RuntimeConfig): CodeRefusal | null {
  const code = codeOf(error);
  if (code !== "INVALID_MODULE" && code !== "INVALID_SCRIPT") return null;
  return {
    subject: code === "INVALID_MODULE" ? "module" : "script",
    reason: describeError(error),
    source: config?.type === "script" ? config.source : "",
  };
}
