/** The project's files as packages hold them. */
export const ROOT = new URL("../", import.meta.url);

/** The files that the commands need, with the console as it was built. */
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
const LEFT_OUT = /(^|\/)(node_modules|web\/(dist-[^/]*|screenshots)|python\/dist-[^/]*|client\/python)(\/|$)/;
const INTERPRETER = "workers/sandbox/python/dist";

/** Copies the project into a new folder. @param withPython Brings the interpreter of Python scripts, which is built. */
export async function copyProject(target: URL, { withPython = false } = {}): Promise<void> {
  const copy = async (path: string) => {
    if (LEFT_OUT.test(path) || (path === INTERPRETER && !withPython)) return;
    const source = new URL(path, ROOT);
    if ((await Deno.stat(source)).isFile) return await Deno.copyFile(source, new URL(path, target));
    await Deno.mkdir(new URL(path, target));
    for await (const { name } of Deno.readDir(source)) await copy(`${path}/${name}`);
  };
  await Deno.mkdir(target, { recursive: true });
  for (const name of FILES) await copy(name);
}

export function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
