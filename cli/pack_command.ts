/** Writes dist/hindcast: the npm package whose command is `hindcast`. Node starts it, and the Deno that npm installs runs it. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { packDatabase } from "./pack_database.ts";
import { copyProject, ignoreMissing, ROOT } from "./project_files.ts";
import manifest from "../deno.json" with { type: "json" };

const TARGET = new URL("dist/hindcast/", ROOT);
/** Deno would take the package's own dependencies for the project's, were they in one folder. */
const PROJECT = new URL("project/", TARGET);
if (import.meta.main) {
  await buildPackage();
  const path = fileURLToPath(TARGET);
  Deno.stdout.writeSync(new TextEncoder().encode(`Wrote ${path}. Next: npm pack ${path}\n`));
}

async function buildPackage(): Promise<void> {
  await Deno.remove(TARGET, { recursive: true }).catch(ignoreMissing);
  await copyProject(PROJECT);
  const build = await digest(PROJECT);
  await packDatabase(PROJECT);
  const copy = (from: URL, name: string) => Deno.copyFile(from, new URL(name, TARGET));
  await copy(new URL("LICENSE", ROOT), "LICENSE");
  await copy(new URL("package/command_readme.md", import.meta.url), "README.md");
  await copy(new URL("package/hindcast.mjs", import.meta.url), "hindcast.mjs");
  const description = describePackage(build);
  await Deno.writeTextFile(new URL("package.json", TARGET), `${JSON.stringify(description, null, 2)}\n`);
}

/** The checksum of the names and contents of all files in a folder. */
async function digest(folder: URL): Promise<string> {
  const hash = createHash("sha256");
  const add = async (path: string) => {
    const entries = await Array.fromAsync(Deno.readDir(new URL(path, folder)));
    for (const { name, isDirectory } of entries.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
      if (isDirectory) await add(`${path}${name}/`);
      else hash.update(`${path}${name}\n`).update(await Deno.readFile(new URL(path + name, folder)));
    }
  };
  await add("./");
  return hash.digest("hex").slice(0, 12);
}

/** @param build Tells versions of equal number apart. */
function describePackage(build: string) {
  return {
    name: "hindcast",
    version: manifest.version,
    build,
    description: "Backtests of trading strategies: the service, its console and its command line",
    license: manifest.license,
    type: "module",
    bin: { hindcast: "hindcast.mjs" },
    engines: { node: ">=20" },
    // The version that the project is tested with.
    dependencies: { deno: Deno.version.deno },
  };
}
