import { RunError } from "../common/outcome.ts";
import { isPythonReady } from "./python_ready.ts";
import type { ScriptLanguage } from "../sandbox/task.ts";

/** How an operator lets scripts run: as they are, without V8's compilers, or not at all. */
type ScriptMode = "on" | "nojit" | "off";

/** The settings for scripts of each language. */
export interface ScriptModes {
  readonly typescript: ScriptMode;
  readonly python: "on" | "off";
  /** The folder of wheels that Python has, "" for none; absent: any that the interpreter was built with. */
  readonly wheels?: string;
}

/** The error of a script that may not run here, or not yet; null where it may. */
export async function refuseScript(modes: ScriptModes, language: ScriptLanguage): Promise<RunError | null> {
  if (language === "typescript") {
    return modes.typescript !== "off" ? null : refusal("Cannot run a script", "scripts");
  }
  if (modes.python === "off") return refusal("Cannot run a script in Python", "Python");
  if (await isPythonReady(modes.wheels)) return null;
  const message = "Cannot run a script in Python yet: a worker is still preparing its interpreter; try again in a " +
    "minute. If it stays so, its operator finds the reason with `deno task python:build`";
  return new RunError("PYTHON_NOT_READY", message);
}

/** True if scripts of a language run without V8's compilers. Python is WebAssembly, which needs them. */
export function isJitless(modes: ScriptModes, language: ScriptLanguage): boolean {
  return language === "typescript" && modes.typescript === "nojit";
}

function refusal(what: string, switched: string): RunError {
  return new RunError("SCRIPTS_NOT_ALLOWED", `${what}: the operator of this service has switched ${switched} off`);
}
