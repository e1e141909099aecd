import { join, resolve } from "node:path";

/** A data directory that this process alone uses. */
export interface DataDirectory {
  readonly path: string;
  /** Where the embedded database keeps its files. */
  readonly databasePath: string;
  /** Where a running service answers `deno task admin`. */
  readonly controlSocketPath: string;
  /** Signs session cookies; made on the first start and kept. */
  readonly authSecret: string;
  release(): void;
}

/** Another process uses the data directory; the message has its PID. */
export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";
}

/** Others may look into a folder that has more than the service's own files; the message says what to do. */
export class DataDirectoryExposed extends Error {
  override readonly name = "DataDirectoryExposed";
}

const OTHERS = 0o077;
const LOCK = "lock";

/**
 * Locks a data directory for this process, and creates it if it does not exist.
 *
 * Two processes on one embedded database silently destroy each other's writes, so the owner locks a file that has its PID. The system
 * drops the lock when the owner ends: the file of a killed process does not matter.
 *
 * @param path The directory, absolute or from the working directory.
 * Nobody but its owner may enter it: a folder that is open to others is closed, unless it has files that are not the service's.
 *
 * @throws DataDirectoryInUse or DataDirectoryExposed
 */
export async function holdDataDirectory(path: string): Promise<DataDirectory> {
  const directory = resolve(path);
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  await closeToOthers(directory);
  const lock = await Deno.open(join(directory, LOCK), { create: true, read: true, write: true, mode: 0o600 });
  if (!await lock.tryLock(true)) {
    const owner = (await new Response(lock.readable).text()).trim();
    throw new DataDirectoryInUse(`Cannot use ${directory}: the process with PID ${owner || "unknown"} already does`);
  }
  await lock.truncate();
  await lock.write(new TextEncoder().encode(`${Deno.pid}\n`));
  const databasePath = join(directory, "database");
  await Deno.mkdir(databasePath, { recursive: true, mode: 0o700 });
  await closeFiles(databasePath);
  return {
    path: directory,
    databasePath,
    controlSocketPath: controlSocketPath(directory),
    authSecret: await keepSecret(join(directory, "auth_secret")),
    release: () => lock.close(),
  };
}

/** The path of a data directory's control socket, with or without a running service. */
export function controlSocketPath(directory: string): string {
  return join(resolve(directory), "control.sock");
}

/**
 * Closes the files of a database that an earlier version made readable for all. The folder's own mode, which is closed last, tells
 * whether that is done.
 */
async function closeFiles(folder: string): Promise<void> {
  const mode = (await Deno.stat(folder)).mode ?? 0;
  if ((mode & OTHERS) === 0) return;
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await closeFiles(path);
    else if (isFile) await Deno.chmod(path, 0o600);
  }
  await Deno.chmod(folder, 0o700);
}

/** Copies keep the files' own modes, but a folder that is open lets others see names and sizes. */
async function closeToOthers(directory: string): Promise<void> {
  // Null where the system has no such modes.
  const mode = (await Deno.stat(directory)).mode ?? 0;
  if ((mode & OTHERS) === 0) return;
  const names = Array.from(Deno.readDirSync(directory), ({ name }) => name);
  if (names.length > 0 && !names.includes(LOCK)) {
    const shown = (mode & 0o777).toString(8);
    throw new DataDirectoryExposed(
      `Cannot start: DATA_DIR ${directory} has other files and is open to other users (mode ${shown}): choose a new folder, or run chmod 700 on it`,
    );
  }
  await Deno.chmod(directory, 0o700);
}

async function keepSecret(path: string): Promise<string> {
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const secret = crypto.getRandomValues(new Uint8Array(32)).toHex();
  // Renamed when complete, so that a killed process leaves no incomplete secret.
  await Deno.writeTextFile(`${path}.new`, `${secret}\n`, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
  return secret;
}
