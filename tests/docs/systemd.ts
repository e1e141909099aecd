/** The systemd unit of docs/operating.md: `deno task test:debian`. */
import { expect } from "@std/expect";
import { blockIn, readPage } from "../support/pages.ts";

const EXPOSURE_MAX = 2;

Deno.test("systemd understands the unit, and finds little that it exposes", async () => {
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const unit = `${folder}/hindcast.service`;
  const text = blockIn(await readPage("docs/operating.md"), "ini", "[Service]");
  // `verify` looks for the program.
  await Deno.writeTextFile(unit, text.replace("/usr/local/bin/deno", Deno.execPath()));
  const analyze = async (args: readonly string[]) => {
    const { stdout, stderr } = await new Deno.Command("systemd-analyze", { args: [...args, unit] }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  const said = await analyze(["verify"]);
  expect(said.split("\n").filter((line) => line.includes("hindcast.service"))).toEqual([]);
  const [, exposure] = /Overall exposure level for hindcast\.service: (\d+\.\d)/.exec(
    await analyze(["security", "--offline=true"]),
  )!;
  expect(Number(exposure)).toBeLessThan(EXPOSURE_MAX);
  await Deno.remove(folder, { recursive: true });
});
