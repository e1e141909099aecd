/** `hindcast.local()`: a service of one's own, from the repository as the package's page shows it. */
import { expect } from "@std/expect";
import { freePort } from "../support/free_port.ts";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { prepare } from "../support/prepare.ts";
import { runIn } from "../support/run_in.ts";

Deno.test("local() serves from the repository, imports candles, runs, and leaves nothing", async () => {
  await prepare("console");
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  await Deno.mkdir(`${folder}/tmp`);
  const env = {
    ...{ PYTHONPATH: `${ROOT}client/python`, PYTHONDONTWRITEBYTECODE: "1", HOME: folder, TMPDIR: `${folder}/tmp` },
    ...{ DENO_DIR: await findCache(), PYTHON: "off", WORKERS: "1" },
  };
  const python = (code: string) => runIn(folder, ["python3", "-S", "-c", code], env);
  const page = blockIn(await readPage("client/python/README.md"), "python", "hindcast.local()");
  const { code, stdout, stderr } = await python(page);
  expect([code, stderr]).toEqual([0, ""]);
  // Bought at the open of the second day, 3, and held to the last close, 32.
  expect(Number(stdout)).toBeCloseTo(32 / 3 - 1, 6);
  expect(Array.from(Deno.readDirSync(`${folder}/tmp`), ({ name }) => name).filter((name) => /^hindcast-/.test(name)))
    .toEqual([]);
  const missing = await python(`import hindcast; hindcast.local("/nowhere", ${freePort()})`);
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("There is no repository of Hindcast at")]);
  await Deno.remove(folder, { recursive: true });
});

async function findCache(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
