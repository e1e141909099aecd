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

/** Another process uses the data directory; the message names it. */
export class DataDirectoryInUse extends Error {
  override readonly name = "DataDirectoryInUse";
}

/**
 * Takes a data directory for this process, making it when it does not exist.
 *
 * Two processes on one embedded database destroy each other's writes without a word, so an exclusive lock is held on a
 * file that tells the owner's PID. The system drops the lock when the owner ends, however it ends: a file that was left
 * by a killed process does not stand in the way.
 *
 * @param path The directory, absolute or from the working directory.
 * @throws DataDirectoryInUse
 */
export async function holdDataDirectory(path: string): Promise<DataDirectory> {
  const directory = resolve(path);
  await Deno.mkdir(directory, { recursive: true, mode: 0o700 });
  const lock = await Deno.open(join(directory, "lock"), { create: true, read: true, write: true, mode: 0o600 });
  if (!await lock.tryLock(true)) {
    const owner = (await new Response(lock.readable).text()).trim();
    throw new DataDirectoryInUse(`Cannot use ${directory}: the process with PID ${owner || "unknown"} already does`);
  }
  await lock.truncate();
  await lock.write(new TextEncoder().encode(`${Deno.pid}\n`));
  return {
    path: directory,
    databasePath: join(directory, "database"),
    controlSocketPath: controlSocketPath(directory),
    authSecret: await keepSecret(join(directory, "auth_secret")),
    release: () => lock.close(),
  };
}

/** Where the control socket of a data directory is, whether or not a service runs there. */
export function controlSocketPath(directory: string): string {
  return join(resolve(directory), "control.sock");
}

async function keepSecret(path: string): Promise<string> {
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const secret = crypto.getRandomValues(new Uint8Array(32)).toHex();
  // Written beside and renamed, so that a process killed in between leaves no half of a secret.
  await Deno.writeTextFile(`${path}.new`, `${secret}\n`, { mode: 0o600 });
  await Deno.rename(`${path}.new`, path);
  return secret;
}
