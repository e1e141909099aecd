/** The Python package and strategies: a class is tried, kept and shared, and others read what is open. */
import { expect } from "@std/expect";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";
import { blockIn, readPage, ROOT } from "../support/pages.ts";
import { runIn } from "../support/run_in.ts";
import { startTestService } from "../support/service.ts";

const READS = `
import hindcast
try:
    print(hindcast.connect().source("my-dip", "1.0.0").splitlines()[0])
except hindcast.HindcastError as error:
    print(error.code, str(error).rsplit(": ")[-1])
`;

const CHANGES = `
import hindcast
hc = hindcast.connect()
text = hc.source("my-dip")
with open("dip.py", "w") as file:
    file.write("# Again.\\n" + text)
made = hc.save_strategy("my-dip", "dip.py")
said = hc.share("my-dip", open=True)
print(made.version, said.source_access, said.is_public, hc.source("my-dip") == "# Again.\\n" + text)
try:
    hc.save_strategy("other", "SMA Cross")
except ValueError as error:
    print(error)
`;

Deno.test("a class of the page is tried, kept and shared, and others read what is open", async () => {
  await buildInterpreter();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startTestService("PostgreSQL", { PYTHON: "on" });
  const programOf = async () => {
    const made = await (await service.user()).send("POST", "/api/tokens", { token: { name: "python", scope: "run" } });
    const env = {
      ...{ HINDCAST_URL: service.url, HINDCAST_TOKEN: String(made.at("/secret")), HOME: folder },
      ...{ PYTHONPATH: `${ROOT}client/python`, PYTHONDONTWRITEBYTECODE: "1" },
    };
    return async (code: string) => {
      // A class is read from its file.
      await Deno.writeTextFile(`${folder}/program.py`, code);
      return await runIn(folder, ["python3", "-S", "program.py"], env);
    };
  };
  const [own, other] = [await programOf(), await programOf()];
  const kept = await own(blockIn(await readPage("docs/python.md"), "python", "save_strategy"));
  expect([kept.code, kept.stderr]).toEqual([0, ""]);
  expect(kept.stdout).toMatch(/^1\.0\.0\nTrue\nclass Dip\(Strategy\):\n {4}stop: float = 0\.1\n[^]*stop\)\n\n$/);
  const hidden = await other(READS);
  expect([hidden.code, hidden.stderr, hidden.stdout]).toEqual([0, "", "FORBIDDEN its owner keeps its code hidden\n"]);
  const changed = await own(CHANGES);
  expect([changed.code, changed.stderr, changed.stdout]).toEqual([
    0,
    "",
    "1.0.1 open True True\nCannot keep 'SMA Cross': it is a name, not a class, a file or an endpoint\n",
  ]);
  const open = await other(READS);
  expect([open.code, open.stderr, open.stdout]).toEqual([0, "", "class Dip(Strategy):\n"]);
  await service.close();
  await Deno.remove(folder, { recursive: true });
});
