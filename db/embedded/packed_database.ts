/** A new database as one file, which a package may bring: to unpack it takes a tenth of the time that to make it takes. */
import { join } from "node:path";

/** The file, from the project's folder: the service may read what lies beside the migrations. */
export const PACKED_DATABASE = "db/migrations/new_database.tar.gz";
const ROOT = new URL("../../", import.meta.url);

/** A packed database that is about to be unpacked. */
interface PackedDatabase {
  readonly content: Blob;
  /** Notes that it is unpacked. */
  finish(): Promise<void>;
}

/**
 * The packed database for a folder that has none. A folder whose unpacking did not end is put aside.
 *
 * @param project Where the file would be.
 * @returns Undefined where nothing is packed, as in the repository.
 */
export async function readPackedDatabase(folder: string, project = ROOT): Promise<PackedDatabase | undefined> {
  if (folder.includes("://")) return undefined;
  const packed = await readIfThere(new URL(PACKED_DATABASE, project));
  if (packed === undefined) return undefined;
  // Beside the folder, until the database in it is whole.
  const mark = `${folder}.unpacking`;
  if (await readIfThere(mark) !== undefined) {
    await Deno.rename(folder, `${folder}.incomplete-${crypto.randomUUID()}`);
    await Deno.mkdir(folder, { mode: 0o700 });
  } else if (await readIfThere(join(folder, "PG_VERSION")) !== undefined) {
    return undefined;
  }
  await Deno.writeTextFile(mark, "", { mode: 0o600 });
  return { content: new Blob([packed]), finish: () => Deno.remove(mark) };
}

async function readIfThere(path: string | URL): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
