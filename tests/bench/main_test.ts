import { expect } from "@std/expect";
import { runTask } from "../support/process.ts";

Deno.test("the benches are named by --help, and one that is not there is refused", async () => {
  const files = [...Deno.readDirSync(new URL("../../bench/", import.meta.url))].map(({ name }) => name);
  const names = files.filter((name) => name.endsWith("_bench.ts")).map((name) => name.replace("_bench.ts", ""));
  const help = await runTask("bench", ["--help"]);
  expect([help.code, help.stderr]).toEqual([0, ""]);
  for (const name of names) expect(help.stdout).toContain(name);
  const unknown = await runTask("bench", ["no-such-bench"]);
  expect([unknown.code, unknown.stdout, unknown.stderr]).toEqual([1, "", expect.stringContaining("no-such-bench")]);
});
