import { RunError } from "../../common/outcome.ts";
import { ScriptFault } from "../script/fault.ts";
import type { CompiledScript, OpenedScript } from "../script/realm_guest.ts";
import { SOURCE_BYTES_MAX } from "../contracts/layout.ts";
import { Reads } from "../script/reads.ts";
import { ScriptError } from "../script/realm_answers.ts";
import { PythonDoor } from "./door.ts";
import type { Interpreter } from "./interpreter.ts";

/**
 * Compiles a Python script in an interpreter. Each opening for a run's first market begins in the memory of this moment, whatever the ones
 * before did, and ends them; those for further markets have globals of their own beside it.
 *
 * @throws {ScriptFault} When it is too long, or no Python.
 */
export function compilePython(source: string, python: Interpreter): CompiledScript {
  const bytes = new TextEncoder().encode(source).length;
  if (bytes > SOURCE_BYTES_MAX) {
    throw new ScriptFault(`it has ${bytes} bytes: at most ${SOURCE_BYTES_MAX} are accepted`);
  }
  if (!source.isWellFormed()) throw new ScriptFault("it has half of a surrogate pair");
  let door = new PythonDoor(python);
  const failure = compileWith(door, source);
  if (failure !== null) throw toFault(failure);
  python.keep();
  const others: PythonDoor[] = [];
  const open = (market: number) => {
    if (market > 0) return openOther(door, source, others);
    for (const each of [door, ...others.splice(0)]) each.end();
    python.reset();
    door = new PythonDoor(python);
    const { schema } = door;
    return { door, run: () => null, schema };
  };
  return { reads: new Reads(source), open };
}

/** Opens a machine of its own beside the first, which stays. */
function openOther(first: PythonDoor, source: string, others: PythonDoor[]): OpenedScript {
  const door = first.openAnother();
  others.push(door);
  return { door, run: () => compileWith(door, source) };
}

function compileWith(door: PythonDoor, source: string): string | null {
  try {
    return door.compile(source);
  } catch (error) {
    // The compiler's own calls left no room on the stack.
    if (error instanceof RangeError) throw new ScriptFault("its parts are nested too deeply");
    if (error instanceof RunError) throw new ScriptFault(error.message);
    throw error;
  }
}

function toFault(description: string): ScriptFault {
  const error = new ScriptError(description);
  const [place = ""] = error.stackLines();
  const message = error.describe().slice(0, place === "" ? undefined : -place.length);
  return new ScriptFault(`${place.replace(/^ at (.+)$/, "$1: ")}${message}`);
}
