import { expect } from "@std/expect";
import { readPackedDatabase } from "../../../db/embedded/packed_database.ts";

Deno.test("a database is packed in packages alone, and none is read for a folder that has one", async () => {
  const { folder, empty, project, clear } = await makeFolders();
  const read = async (path: string, from: URL) => await (await readPackedDatabase(path, from))?.content.text();
  expect(await read(empty, new URL(`file://${folder}/empty/`))).toBe(undefined);
  expect(await read("memory://", project)).toBe(undefined);
  const packed = await readPackedDatabase(empty, project);
  expect(await packed?.content.text()).toBe("a database");
  await Deno.writeTextFile(`${empty}/PG_VERSION`, "18\n");
  await packed?.finish();
  expect(await read(empty, project)).toBe(undefined);
  await clear();
});

Deno.test("a folder whose unpacking did not end is put aside, with what is in it", async () => {
  const { folder, empty, project, clear } = await makeFolders();
  await readPackedDatabase(empty, project);
  await Deno.writeTextFile(`${empty}/PG_VERSION`, "half");
  // The process is killed here.
  const packed = await readPackedDatabase(empty, project);
  expect(await packed?.content.text()).toBe("a database");
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  expect(Array.from(Deno.readDirSync(empty))).toEqual([]);
  const [aside] = names.filter((name) => name.startsWith("empty.incomplete-"));
  expect(await Deno.readTextFile(`${folder}/${aside}/PG_VERSION`)).toBe("half");
  await packed?.finish();
  expect(Array.from(Deno.readDirSync(folder), ({ name }) => name)).not.toContain("empty.unpacking");
  await clear();
});

/** A folder without a database, and a project that packs one. */
async function makeFolders() {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const empty = `${folder}/empty`;
  const project = new URL(`file://${folder}/project/`);
  await Deno.mkdir(empty);
  await Deno.mkdir(new URL("db/migrations", project), { recursive: true });
  await Deno.writeTextFile(new URL("db/migrations/new_database.tar.gz", project), "a database");
  return { folder, empty, project, clear: () => Deno.remove(folder, { recursive: true }) };
}
