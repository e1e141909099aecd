/** A new database as one file, which a package may bring: to unpack it takes a tenth of the time that to make it takes. */
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";

/** The file, from the project's folder: the service may read what lies beside the migrations. */
export const PACKED_DATABASE = "db/migrations/new_database.tar.gz";
const ROOT = new URL("../../", import.meta.url);

/**
 * Unpacks the packed database into a folder that has none, if there is a packed one. A folder whose unpacking did not end is put aside.
 *
 * @param project Where the file would be: in packages, and not in the repository.
 */
export async function unpackDatabase(folder: string, project = ROOT): Promise<void> {
  if (folder.includes("://")) return;
  const packed = await readIfThere(new URL(PACKED_DATABASE, project));
  if (packed === undefined) return;
  // Beside the folder, until the database in it is whole.
  const mark = `${folder}.unpacking`;
  if (await readIfThere(mark) !== undefined) {
    await Deno.rename(folder, `${folder}.incomplete-${crypto.randomUUID()}`);
    await Deno.mkdir(folder, { mode: 0o700 });
  } else if (await readIfThere(join(folder, "PG_VERSION")) !== undefined) {
    return;
  }
  await Deno.writeTextFile(mark, "", { mode: 0o600 });
  // PGlite would unpack it itself, file by file through its own system of files: that takes five times as long. A stream takes three
  // times as long as one call on a thread of the runtime's, and waiting for each of 1,200 files twice as long as writing it at once.
  // One piece of the whole size, which the last four bytes of the format have: to join smaller ones takes as long as all else.
  const size = new DataView(packed.buffer, packed.byteOffset).getUint32(packed.length - 4, true);
  for (const { name, content } of readTar(await promisify(gunzip)(packed, { chunkSize: size + 1 }))) {
    const path = join(folder, name);
    if (content === undefined) Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
    else Deno.writeFileSync(path, content, { mode: 0o600 });
  }
  await Deno.remove(mark);
}

async function readIfThere(path: string | URL): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

// Of the format tar: where a block's header has the name, the size in octal digits, and the type.
const BLOCK_BYTES = 512;
const NAME = [0, 100] as const;
const SIZE = [124, 136] as const;
const TYPE = [156, 157] as const;
const FOLDER = "5";

/** The entries of an archive that PGlite made, each folder before what is in it. A folder has no content. */
function* readTar(archive: Uint8Array): Generator<{ readonly name: string; readonly content: Uint8Array | undefined }> {
  const text = new TextDecoder();
  for (let start = 0; start < archive.length && archive[start] !== 0;) {
    const header = archive.subarray(start, start += BLOCK_BYTES);
    const read = (field: readonly [number, number]) => text.decode(header.subarray(...field)).replace(/\0.*$/s, "");
    const sizeBytes = parseInt(read(SIZE), 8);
    const content = read(TYPE) === FOLDER ? undefined : archive.subarray(start, start + sizeBytes);
    yield { name: read(NAME), content };
    start += Math.ceil(sizeBytes / BLOCK_BYTES) * BLOCK_BYTES;
  }
}
