import { expect } from "@std/expect";
import { unpackDatabase } from "../../../db/embedded/packed_database.ts";

Deno.test("a database is packed in packages alone, and none is unpacked for a folder that has one", async () => {
  const { folder, empty, project, clear } = await makeFolders();
  await unpackDatabase(empty, new URL(`file://${folder}/empty/`));
  await unpackDatabase("memory://", project);
  expect(list(empty)).toEqual([]);
  await unpackDatabase(empty, project);
  expect(list(empty)).toEqual(["PG_VERSION", "base", "base/1", "base/1/1255", "pg_notify"]);
  expect(await Deno.readTextFile(`${empty}/PG_VERSION`)).toBe("18\n");
  expect(await Deno.readTextFile(`${empty}/base/1/1255`)).toBe("r".repeat(700));
  const modes = ["PG_VERSION", "pg_notify"].map((name) => (Deno.statSync(`${empty}/${name}`).mode ?? 0) & 0o777);
  expect(modes).toEqual([0o600, 0o700]);
  await Deno.writeTextFile(`${empty}/PG_VERSION`, "19\n");
  await unpackDatabase(empty, project);
  expect(await Deno.readTextFile(`${empty}/PG_VERSION`)).toBe("19\n");
  await clear();
});

Deno.test("a folder whose unpacking did not end is put aside, with what is in it", async () => {
  const { folder, empty, project, clear } = await makeFolders();
  await Deno.writeTextFile(`${empty}/PG_VERSION`, "half");
  // The process was killed here.
  await Deno.writeTextFile(`${empty}.unpacking`, "");
  await unpackDatabase(empty, project);
  expect(await Deno.readTextFile(`${empty}/PG_VERSION`)).toBe("18\n");
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  const [aside] = names.filter((name) => name.startsWith("empty.incomplete-"));
  expect(await Deno.readTextFile(`${folder}/${aside}/PG_VERSION`)).toBe("half");
  expect(names).not.toContain("empty.unpacking");
  await clear();
});

function list(folder: string, below = ""): string[] {
  const entries = Array.from(Deno.readDirSync(`${folder}/${below}`));
  return entries.flatMap(({ name, isDirectory }) =>
    isDirectory ? [below + name, ...list(folder, `${below}${name}/`)] : [below + name]
  ).toSorted();
}

/** A folder without a database, and a project that packs one: the system's tar makes it. */
async function makeFolders() {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const [empty, source] = [`${folder}/empty`, `${folder}/source`];
  const project = new URL(`file://${folder}/project/`);
  for (const path of [empty, `${source}/base/1`, `${source}/pg_notify`]) await Deno.mkdir(path, { recursive: true });
  await Deno.mkdir(new URL("db/migrations", project), { recursive: true });
  await Deno.writeTextFile(`${source}/PG_VERSION`, "18\n");
  await Deno.writeTextFile(`${source}/base/1/1255`, "r".repeat(700));
  const archive = `${folder}/project/db/migrations/new_database.tar.gz`;
  const args = ["--create", "--gzip", "--format=ustar", `--file=${archive}`, "PG_VERSION", "base", "pg_notify"];
  const { success } = await new Deno.Command("tar", { args, cwd: source }).output();
  expect(success).toBe(true);
  return { folder, empty, project, clear: () => Deno.remove(folder, { recursive: true }) };
}
