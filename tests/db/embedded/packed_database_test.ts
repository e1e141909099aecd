import { expect } from "@std/expect";
import { readPackedDatabase } from "../../../db/embedded/packed_database.ts";

Deno.test("a database is packed in packages alone, and none is read for a folder that has one", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const [empty, packed] = ["empty", "packed"].map((name) => new URL(`file://${folder}/${name}/`));
  if (empty === undefined || packed === undefined) throw new Error("Cannot be but two");
  await Deno.mkdir(empty);
  await Deno.mkdir(new URL("db/migrations", packed), { recursive: true });
  await Deno.writeTextFile(new URL("db/migrations/new_database.tar.gz", packed), "a database");
  const read = async (path: string, project: URL) => await (await readPackedDatabase(path, project))?.text();
  expect(await read(empty.pathname, packed)).toBe("a database");
  expect(await read(empty.pathname, empty)).toBe(undefined);
  expect(await read("memory://", packed)).toBe(undefined);
  await Deno.writeTextFile(new URL("PG_VERSION", empty), "18\n");
  expect(await read(empty.pathname, packed)).toBe(undefined);
  await Deno.remove(folder, { recursive: true });
});
