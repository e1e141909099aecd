import { getLogger } from "@logtape/logtape";
import { hasWheels, isWhole, listWheels, readFacts } from "../sandbox/interpreter_files.ts";

const log = getLogger(["hindcast", "python"]);

let isReady = false;

/**
 * True once the interpreter of Python scripts is built, from these sources and wheels, and its files have their digests.
 *
 * @param folder Of the wheels; "" for none, absent for any.
 */
export async function isPythonReady(folder?: string): Promise<boolean> {
  if (isReady) return true;
  const facts = await readFacts();
  if (facts === null) return false;
  if (folder !== undefined && !hasWheels(facts, await listWheels(folder))) return false;
  isReady = await isWhole(facts);
  if (!isReady) log.error("The interpreter of Python scripts is damaged: remove workers/sandbox/python/dist");
  return isReady;
}
