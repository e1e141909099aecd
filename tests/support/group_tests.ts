import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const TESTS = new URL("../", import.meta.url);
// Enough groups remain to keep all cores busy until the end.
const FILES_PER_GROUP = 8;

/**
 * Writes modules that each import a few test files of the same folder, or of neighbouring ones.
 *
 * `deno test` loads every file's modules anew: in groups, the suite needs a sixth less processor time.
 */
export async function groupTests(): Promise<{ readonly files: readonly string[]; remove(): Promise<void> }> {
  const tests = (await Array.fromAsync(listTests(fileURLToPath(TESTS)))).sort();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-groups-" });
  const files: string[] = [];
  for (let first = 0; first < tests.length; first += FILES_PER_GROUP) {
    const group = tests.slice(first, first + FILES_PER_GROUP);
    const file = join(folder, `${String(files.length + 1).padStart(2, "0")}_test.ts`);
    await Deno.writeTextFile(
      file,
      group.map((path) => `import ${JSON.stringify(pathToFileURL(path).href)};\n`).join(""),
    );
    files.push(file);
  }
  return { files, remove: () => Deno.remove(folder, { recursive: true }) };
}

async function* listTests(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* listTests(path);
    else if (name.endsWith("_test.ts")) yield path;
  }
}
