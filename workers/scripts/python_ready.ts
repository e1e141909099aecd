import { getLogger } from "@logtape/logtape";
import { isWhole, readFacts } from "../sandbox/interpreter_files.ts";

const log = getLogger(["hindcast", "python"]);

let isReady = false;

/** True once the interpreter of Python scripts is built, from these sources, and its files have their digests. */
export async function isPythonReady(): Promise<boolean> {
  if (isReady) return true;
  const facts = await readFacts();
  if (facts === null) return false;
  isReady = await isWhole(facts);
  if (!isReady) log.error("The interpreter of Python scripts is damaged: remove workers/sandbox/python/dist");
  return isReady;
}
