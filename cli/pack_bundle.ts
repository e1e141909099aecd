/**
 * Writes dist/hindcast-VERSION-SYSTEM.tar.gz: the runtime, the project and all that its start would install or build, for machines of this
 * kind that reach no registry.
 */
import { fileURLToPath } from "node:url";
import manifest from "../deno.json" with { type: "json" };
import { COMMANDS } from "./commands.ts";
import { packDatabase } from "./pack_database.ts";
import { copyProject, ignoreMissing, ROOT } from "./project_files.ts";

const NAME = `hindcast-${manifest.version}-${Deno.build.os}-${Deno.build.arch}`;
const TARGET = new URL(`dist/${NAME}/`, ROOT);
const PROJECT = new URL("project/", TARGET);

if (import.meta.main) {
  await Deno.remove(TARGET, { recursive: true }).catch(ignoreMissing);
  await copyProject(PROJECT, { withPython: true });
  await packDatabase(PROJECT);
  await Deno.copyFile(Deno.execPath(), new URL("deno", TARGET));
  await Deno.copyFile(new URL("package/hindcast.sh", import.meta.url), new URL("hindcast", TARGET));
  for (const name of ["deno", "hindcast"]) await Deno.chmod(new URL(name, TARGET), 0o755);
  await installPackages();
  await run("tar", ["--create", "--gzip", `--file=${NAME}.tar.gz`, NAME], { cwd: new URL("dist/", ROOT) });
  await Deno.remove(TARGET, { recursive: true });
  const path = fileURLToPath(new URL(`dist/${NAME}.tar.gz`, ROOT));
  Deno.stdout.writeSync(
    new TextEncoder().encode(`Wrote ${path}. There: tar xzf ${NAME}.tar.gz && ${NAME}/hindcast serve\n`),
  );
}

/** Installs the packages of all commands into the bundle's own cache, where its start looks for them. */
async function installPackages(): Promise<void> {
  const scripts = new Set(Object.values(COMMANDS).map(({ script: [path] }) => path));
  const lock = ["--node-modules-dir=none", "--lock=service.lock", "--frozen"];
  const cache = fileURLToPath(new URL("cache/", TARGET));
  await run(Deno.execPath(), ["cache", "--quiet", ...lock, ...scripts], { cwd: PROJECT, env: { DENO_DIR: cache } });
}

async function run(program: string, args: string[], options: Deno.CommandOptions): Promise<void> {
  const { code } = await new Deno.Command(program, { args, ...options }).spawn().status;
  if (code !== 0) throw new Error(`Cannot pack: ${program} ${args.join(" ")} ended with ${code}`);
}
