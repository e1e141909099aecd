/** A new database with the sample candles and the queues, for the npm package: a first start unpacks it. */
import { fileURLToPath } from "node:url";
import { sql } from "drizzle-orm";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import { openPglite } from "../db/client.ts";
import { PACKED_DATABASE } from "../db/embedded/packed_database.ts";
import { loadPgliteFiles } from "../db/embedded/pglite_files.ts";
import { archiveSample } from "../market/ingestion/archive_sample.ts";
import { Jobs } from "../workers/jobs/jobs.ts";

/** Each start sets it again. */
const RUN_SECONDS_MAX = 600;

/** Makes the database of a project and writes it into the project's folder. */
export async function packDatabase(project: URL): Promise<void> {
  const folder = fileURLToPath(new URL("new_database/", project));
  await Deno.mkdir(folder, { mode: 0o700 });
  const handle = await openPglite(folder);
  await handle.db.execute(sql`set wal_recycle = off`);
  await archiveSample(handle.db);
  const jobs = await Jobs.open(handle, RUN_SECONDS_MAX);
  await jobs.close();
  // The log repeats all candles: after a checkpoint its earlier files are not needed.
  await handle.db.execute(sql`select pg_switch_wal()`);
  await handle.db.execute(sql`checkpoint`);
  await handle.close();
  const database = await PGlite.create({ ...await loadPgliteFiles(), fs: new NodeFS(folder) });
  const packed = await database.dumpDataDir("gzip");
  await database.close();
  await Deno.writeFile(new URL(PACKED_DATABASE, project), packed.stream());
  await Deno.remove(folder, { recursive: true });
}
