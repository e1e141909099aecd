/**
 * Builds the console into web/dist, unless the build there is of the same sources.
 *
 * It uses no package itself, so an up-to-date build installs nothing.
 */
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const ROOT = new URL("./", import.meta.url);
const DIST = new URL("dist/", ROOT);
const STAMP = "sources.sha256";
const NO_SOURCES = /^(dist(-.*)?|node_modules|screenshots)$/;
const COMPRESSED = /\.(css|html|js|svg)$/;

if (import.meta.main) {
  const stop = new AbortController();
  // A service that ends during its build ends well.
  for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => stop.abort());
  await buildConsole(stop.signal);
  Deno.exit();
}

/**
 * Builds where the sources differ from those of the last build. Two builds at a time do not disturb each other.
 *
 * @param stop Ends the build and removes what it has made.
 */
export async function buildConsole(stop?: AbortSignal): Promise<void> {
  const sources = hashFolder(ROOT);
  if (readStamp() === sources) return;
  const startedAtMs = performance.now();
  say("Building the console. The first build also installs its tools, about 200 MB.");
  const made = new URL(`dist-${crypto.randomUUID()}/`, ROOT);
  try {
    await bundle(made, stop);
    compressFolder(made);
    Deno.writeTextFileSync(new URL(STAMP, made), sources);
    Deno.removeSync(DIST, { recursive: true });
    Deno.renameSync(made, DIST);
  } catch (error) {
    if (stop?.aborted) return;
    // Another build may have put the same in place meanwhile.
    if (readStamp() !== sources) throw error;
  } finally {
    removeIfThere(made);
  }
  say(`Built the console in ${((performance.now() - startedAtMs) / 1000).toFixed(1)} s.`);
}

/** Runs Vite in a process of its own, which may read the sources, write the build and load Vite's native parts. */
async function bundle(folder: URL, stop?: AbortSignal): Promise<void> {
  const path = fileURLToPath(folder);
  Deno.mkdirSync(folder);
  // The folder must be there for a second build, which removes it.
  Deno.mkdirSync(DIST, { recursive: true });
  const { success } = await new Deno.Command("deno", {
    args: [
      ...["run", "--config=deno.json", "--lock=deno.lock", "--frozen", "--no-prompt", "--quiet"],
      ...[
        "--allow-read=.",
        "--ignore-read",
        `--allow-write=${path}`,
        "--allow-ffi=node_modules",
        "--allow-env",
        "--allow-sys",
      ],
      ...["bundle.ts", path],
    ],
    cwd: ROOT,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
    ...(stop === undefined ? {} : { signal: stop }),
  }).output();
  if (!success) {
    throw new Error("Cannot build the console: see the messages above, and try again with `deno task web:build`");
  }
}

/** A hash of the names and contents of all sources. */
function hashFolder(folder: URL): string {
  const hash = createHash("sha256");
  for (const name of listFiles(folder)) hash.update(`${name}\n`).update(Deno.readFileSync(new URL(name, folder)));
  return hash.digest("hex");
}

/** The paths of the files below a folder, sorted. */
function listFiles(folder: URL, below = ""): string[] {
  return [...Deno.readDirSync(new URL(below, folder))].flatMap(({ name, isDirectory }) => {
    if (below === "" && NO_SOURCES.test(name)) return [];
    return isDirectory ? listFiles(folder, `${below}${name}/`) : [`${below}${name}`];
  }).sort();
}

/** Writes each text file once more for browsers that accept brotli, and for those that accept gzip. */
function compressFolder(folder: URL): void {
  for (const name of listFiles(folder).filter((each) => COMPRESSED.test(each))) {
    const file = new URL(name, folder);
    const bytes = Deno.readFileSync(file);
    Deno.writeFileSync(new URL(`${file.href}.br`), brotliCompressSync(bytes));
    Deno.writeFileSync(new URL(`${file.href}.gz`), gzipSync(bytes, { level: 9 }));
  }
}

function readStamp(): string | null {
  try {
    return Deno.readTextFileSync(new URL(STAMP, DIST));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
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
