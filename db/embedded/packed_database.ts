/** A new database as one file, which a package may bring: to unpack it takes a tenth of the time that to make it takes. */
import { join } from "node:path";

/** The file, from the project's folder: the service may read what lies beside the migrations. */
export const PACKED_DATABASE = "db/migrations/new_database.tar.gz";
const ROOT = new URL("../../", import.meta.url);

/**
 * The packed database for a folder that has none.
 *
 * @param project Where the file would be.
 * @returns Undefined where nothing is packed, as in the repository.
 */
export async function readPackedDatabase(folder: string, project = ROOT): Promise<Blob | undefined> {
  if (folder.includes("://") || await readIfThere(join(folder, "PG_VERSION")) !== undefined) return undefined;
  const packed = await readIfThere(new URL(PACKED_DATABASE, project));
  return packed === undefined ? undefined : new Blob([packed]);
}

async function readIfThere(path: string | URL): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
