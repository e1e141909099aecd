/** Writes dist/hindcast: the npm package whose command is `hindcast`. Node starts it, and the Deno that npm installs runs it. */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { packDatabase } from "./pack_database.ts";
import manifest from "../deno.json" with { type: "json" };

const ROOT = new URL("../", import.meta.url);
const TARGET = new URL("dist/hindcast/", ROOT);
/** Deno would take the package's own dependencies for the project's, were they in one folder. */
const PROJECT = new URL("project/", TARGET);
/**
 * The files of the project that the command needs. The console is built already, and a new database comes with them, so that a first
 * start makes neither.
 */
const FILES = [
  ...["main.ts", "deno.json", "service.lock", "LICENSE", "README.md", "CHANGELOG.md"],
  ...[
    "cli",
    "client",
    "db",
    "docs",
    "engine",
    "market",
    "research",
    "routers",
    "server",
    "strategies",
    "web",
    "workers",
  ],
];
const LEFT_OUT = /(^|\/)(node_modules|python\/dist|web\/dist-[^/]*|client\/python)(\/|$)/;

if (import.meta.main) {
  await buildPackage();
  const path = fileURLToPath(TARGET);
  Deno.stdout.writeSync(new TextEncoder().encode(`Wrote ${path}. Next: npm pack ${path}\n`));
}

async function buildPackage(): Promise<void> {
  await Deno.remove(TARGET, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(PROJECT, { recursive: true });
  for (const name of FILES) await copy(name);
  const build = await digest(PROJECT);
  await packDatabase(PROJECT);
  for (const name of ["README.md", "LICENSE"]) await Deno.copyFile(new URL(name, ROOT), new URL(name, TARGET));
  await Deno.copyFile(new URL("package/hindcast.mjs", import.meta.url), new URL("hindcast.mjs", TARGET));
  const description = describePackage(build);
  await Deno.writeTextFile(new URL("package.json", TARGET), `${JSON.stringify(description, null, 2)}\n`);
}

async function copy(path: string): Promise<void> {
  if (LEFT_OUT.test(path)) return;
  const source = new URL(path, ROOT);
  if ((await Deno.stat(source)).isFile) return await Deno.copyFile(source, new URL(path, PROJECT));
  await Deno.mkdir(new URL(path, PROJECT));
  for await (const { name } of Deno.readDir(source)) await copy(`${path}/${name}`);
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

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
