import { RunError } from "./outcome.ts";

/** How an operator lets scripts run: as they are, without V8's compilers, or not at all. */
export type ScriptMode = "on" | "nojit" | "off";

/** The error of a script where the operator has switched scripts off; null where they may run. */
export function refuseScript(mode: ScriptMode): RunError | null {
  if (mode !== "off") return null;
  return new RunError(
    "SCRIPTS_NOT_ALLOWED",
    "Cannot run a script: the operator of this service has switched scripts off",
  );
}
