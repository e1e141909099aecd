/**
 * Builds the interpreter of Python scripts into dist/, unless the one there is made from the same sources.
 *
 * It uses no package itself, so where it is built, or PYTHON is off, nothing is installed.
 */
import { fileURLToPath } from "node:url";
import { BUILD, hasWheels, isWhole, listWheels, readFacts } from "../interpreter_files.ts";

const ROOT = new URL("./", import.meta.url);
const PROJECT = fileURLToPath(new URL("../../../", ROOT));

if (import.meta.main && Deno.env.get("PYTHON") !== "off") {
  const stop = new AbortController();
  // A service that ends during its build ends well.
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  try {
    await buildInterpreter(Deno.env.get("PYTHON_WHEELS") ?? "", stop.signal);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    say(error.message);
    Deno.exit(1);
  }
  Deno.exit();
}

/**
 * Builds where it has to. Two builds at a time do not disturb each other.
 *
 * @param wheels The folder of wheels that it loads, "" for none; absent: one that is there may have any.
 * @param stop Ends the build and removes what it has made.
 */
export async function buildInterpreter(wheels?: string, stop?: AbortSignal): Promise<void> {
  if (await isBuilt(wheels)) return;
  const startedAtMs = performance.now();
  say("Building the interpreter of Python scripts. The first build also installs it, 14 MB.");
  const made = new URL(`dist-${crypto.randomUUID()}/`, ROOT);
  Deno.mkdirSync(made);
  try {
    await make(fileURLToPath(made), wheels, stop);
    if (await isBuilt(wheels)) return;
    removeIfThere(BUILD);
    Deno.renameSync(made, BUILD);
  } catch (error) {
    if (stop?.aborted) return;
    // Another build may have put the same in place meanwhile.
    if (!await isBuilt(wheels)) throw error;
  } finally {
    removeIfThere(made);
  }
  say(`Built the interpreter of Python scripts in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s.`);
}

async function isBuilt(wheels?: string): Promise<boolean> {
  const wanted = wheels === undefined ? undefined : await readFolder(wheels);
  const facts = await readFacts();
  if (facts === null || !await isWhole(facts)) return false;
  return wanted === undefined || hasWheels(facts, wanted);
}

async function readFolder(wheels: string) {
  try {
    return await listWheels(wheels);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Error(`Cannot build the interpreter: PYTHON_WHEELS cannot be read: ${error.message}`, { cause: error });
  }
}

/** Starts pyodide in a process of its own, which may read the project and write the folder. */
async function make(folder: string, wheels = "", stop?: AbortSignal): Promise<void> {
  const { success, stderr } = await new Deno.Command("deno", {
    args: [
      ...["run", "--config=deno.json", "--lock=deno.lock", "--frozen", "--no-prompt", "--quiet"],
      ...[
        `--allow-read=${[PROJECT, wheels].filter(Boolean).join(",")}`,
        `--allow-write=${folder}`,
        "--ignore-read",
        "--ignore-env",
      ],
      ...["make_image.ts", folder, wheels],
    ],
    cwd: fileURLToPath(ROOT),
    stdout: "null",
    stderr: "piped",
    ...(stop === undefined ? {} : { signal: stop }),
  }).output();
  if (!success) throw new Error(`Cannot build the interpreter: ${new TextDecoder().decode(stderr).trim()}`);
}

function removeIfThere(folder: URL): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function say(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`${line}\n`));
}
