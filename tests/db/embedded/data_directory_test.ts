import { expect } from "@std/expect";
import { DataDirectoryExposed, holdDataDirectory } from "../../../db/embedded/data_directory.ts";

const modeOf = (path: string) => (Deno.statSync(path).mode ?? 0) & 0o777;

Deno.test("the files of a database that an earlier version left open are closed", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const inner = `${folder}/database/base/1`;
  await Deno.mkdir(inner, { recursive: true });
  await Deno.writeTextFile(`${inner}/1247`, "");
  for (const path of [`${folder}/database`, `${folder}/database/base`, inner]) await Deno.chmod(path, 0o755);
  await Deno.chmod(`${inner}/1247`, 0o666);
  (await holdDataDirectory(folder)).release();
  expect([`${folder}/database`, `${folder}/database/base`, inner, `${inner}/1247`].map(modeOf))
    .toEqual([0o700, 0o700, 0o700, 0o600]);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a data directory that others may enter is closed, unless it has other files than the service's", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.chmod(folder, 0o755);
  (await holdDataDirectory(folder)).release();
  expect(modeOf(folder)).toBe(0o700);

  // As an older version or a restored backup left it.
  await Deno.chmod(folder, 0o775);
  (await holdDataDirectory(folder)).release();
  expect(modeOf(folder)).toBe(0o700);

  const shared = `${folder}/shared`;
  await Deno.mkdir(shared);
  await Deno.writeTextFile(`${shared}/notes.txt`, "");
  await Deno.chmod(shared, 0o755);
  const error = await holdDataDirectory(shared).then(() => null, (error) => error);
  expect(error).toBeInstanceOf(DataDirectoryExposed);
  expect(error.message).toBe(
    `Cannot start: DATA_DIR ${shared} has other files and is open to other users (mode 755): choose a new folder, or run chmod 700 on it`,
  );
  expect([modeOf(shared), Array.from(Deno.readDirSync(shared), ({ name }) => name)]).toEqual([0o755, ["notes.txt"]]);
  await Deno.chmod(shared, 0o700);
  (await holdDataDirectory(shared)).release();
  await Deno.remove(folder, { recursive: true });
});
