/**
 * Writes service.lock: the packages of deno.lock that deno.json's imports need, without those that only tests import.
 *
 * Deno installs all that a lock file holds, so the service has one of its own.
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

/** The text of service.lock as deno.json and deno.lock make it. */
export async function makeServiceLock(): Promise<string> {
  const read = async (path: string) => JSON.parse(await Deno.readTextFile(new URL(path, ROOT)));
  const [{ imports }, lock]: [{ imports: Record<string, string> }, Lock] = await Promise.all([
    read("deno.json"),
    read("deno.lock"),
  ]);
  const wanted = new Set(Object.values(imports));
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
  return `${JSON.stringify({ version: lock.version, specifiers, npm, workspace: lock.workspace }, null, 2)}\n`;
}

/** A dependency is named without its version where the lock holds one version only, and as `alias@npm:name` under another name. */
function findPackage(lock: Lock, name: string): string | null {
  const id = name.slice(name.indexOf("@npm:") === -1 ? 0 : name.indexOf("@npm:") + "@npm:".length);
  if (id in lock.npm) return id;
  return Object.keys(lock.npm).find((each) => each.startsWith(`${id}@`) || each.startsWith(`${id}_`)) ?? null;
}

if (import.meta.main) await Deno.writeTextFile(new URL("service.lock", ROOT), await makeServiceLock());
