/**
 * Writes service.lock: the packages of deno.lock that deno.json's imports need, without those that only tests or the console import.
 * Writes deno.json and deno.lock of the console's build and of the build of Python's interpreter, which install into folders of their own.
 *
 * Deno installs all that a lock file holds, so each has one of its own.
 */

interface Lock {
  readonly version: string;
  readonly specifiers: Readonly<Record<string, string>>;
  readonly npm: Readonly<Record<string, Dependent>>;
  readonly workspace: unknown;
}

interface Dependent {
  readonly dependencies?: readonly string[];
  readonly optionalDependencies?: readonly string[];
  readonly optionalPeers?: readonly string[];
}

const ROOT = new URL("../..", import.meta.url);

type Scope = "./web/" | "./workers/sandbox/python/";

interface Manifest {
  readonly imports: Readonly<Record<string, string>>;
  readonly scopes: Readonly<Record<Scope, Readonly<Record<string, string>>>>;
}

// Packages of the service that the console's build needs, too.
const SHARED = ["@trpc/client", "@trpc/server"] as const;
/** Peers that packages name for their types and for browsers: no process of the service loads them, and they are a fifth of its download. */
const UNUSED_PEERS: readonly string[] = ["react", "react-dom", "typescript"];

/** The texts of the files that follow from deno.json and deno.lock, by path. */
export async function makeLocks(): Promise<
  Readonly<Record<"service.lock" | `${"web" | "workers/sandbox/python"}/deno.${"json" | "lock"}`, string>>
> {
  const read = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
  const [manifest, lock]: [Manifest, Lock] = await Promise.all([read("deno.json"), read("deno.lock")]);
  const shared = SHARED.map((name) => [name, manifest.imports[name]!] as const);
  const console = { ...Object.fromEntries(shared), ...manifest.scopes["./web/"] };
  const python = manifest.scopes["./workers/sandbox/python/"];
  return {
    "service.lock": toText(cutLock(withoutUnusedPeers(lock), manifest.imports, lock.workspace)),
    "web/deno.json": writeManifest(console),
    "web/deno.lock": writeLock(lock, console),
    "workers/sandbox/python/deno.json": writeManifest(python),
    "workers/sandbox/python/deno.lock": writeLock(lock, python),
  };
}

function writeManifest(imports: Readonly<Record<string, string>>): string {
  return toText({ nodeModulesDir: "auto", imports });
}

function writeLock(lock: Lock, imports: Readonly<Record<string, string>>): string {
  const dependencies = [...new Set(Object.values(imports).map(toRequirement))].sort();
  return toText(cutLock(lock, imports, { dependencies }));
}

function withoutUnusedPeers(lock: Lock): Lock {
  const cut = (names: readonly string[]) => names.filter((name) => !UNUSED_PEERS.includes(name));
  const cutEntry = (entry: Dependent): Dependent =>
    Object.fromEntries(
      Object.entries(entry).map(([field, value]) => [field, Array.isArray(value) ? cut(value) : value])
        .filter(([, value]) => !Array.isArray(value) || value.length > 0),
    );
  return { ...lock, npm: Object.fromEntries(Object.entries(lock.npm).map(([id, entry]) => [id, cutEntry(entry)])) };
}

/** The part of a lock that some imports need. */
function cutLock(lock: Lock, imports: Readonly<Record<string, string>>, workspace: unknown): Lock {
  const wanted = new Set(Object.values(imports).map(toRequirement));
  const specifiers = Object.fromEntries(Object.entries(lock.specifiers).filter(([specifier]) => wanted.has(specifier)));
  const needed = new Set<string>();
  const add = (id: string) => {
    if (needed.has(id)) return;
    needed.add(id);
    const { dependencies = [], optionalDependencies = [], optionalPeers = [] } = lock.npm[id]!;
    for (const name of [...dependencies, ...optionalDependencies, ...optionalPeers]) {
      const dependency = findPackage(lock, name);
      if (dependency !== null) add(dependency);
    }
  };
  for (const [specifier, version] of Object.entries(specifiers)) {
    add(`${specifier.slice("npm:".length, specifier.lastIndexOf("@"))}@${version}`);
  }
  const npm = Object.fromEntries(Object.entries(lock.npm).filter(([id]) => needed.has(id)));
  return { version: lock.version, specifiers, npm, workspace };
}

/** `npm:react@19.3.1` for that and for `npm:/react@19.3.1/`, which stands for the package's paths. */
function toRequirement(specifier: string): string {
  return specifier.replace(/^npm:\/(.*)\/$/, "npm:$1");
}

function toText(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** A dependency is named without its version where the lock holds one version only, and as `alias@npm:name` under another name. */
function findPackage(lock: Lock, name: string): string | null {
  const id = name.slice(name.indexOf("@npm:") === -1 ? 0 : name.indexOf("@npm:") + "@npm:".length);
  if (id in lock.npm) return id;
  return Object.keys(lock.npm).find((each) => each.startsWith(`${id}@`) || each.startsWith(`${id}_`)) ?? null;
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await makeLocks())) await Deno.writeTextFile(new URL(path, ROOT), text);
}
