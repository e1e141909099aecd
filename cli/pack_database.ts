/** A new database with the sample candles, for the npm package: a first start unpacks it. */
import { fileURLToPath } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { openPglite } from "../db/client.ts";
import { PACKED_DATABASE } from "../db/embedded/packed_database.ts";
import { loadPgliteFiles } from "../db/embedded/pglite_files.ts";
import { archiveSample } from "../market/ingestion/archive_sample.ts";

/** Makes the database of a project and writes it into the project's folder. */
export async function packDatabase(project: URL): Promise<void> {
  const folder = fileURLToPath(new URL("new_database/", project));
  await Deno.mkdir(folder, { mode: 0o700 });
  const { db, close } = await openPglite(folder);
  await archiveSample(db);
  await close();
  const database = await PGlite.create({ ...await loadPgliteFiles(), fs: new NodeFS(folder) });
  const packed = await database.dumpDataDir("gzip");
  await database.close();
  await Deno.writeFile(new URL(PACKED_DATABASE, project), packed.stream());
  await Deno.remove(folder, { recursive: true });
}
