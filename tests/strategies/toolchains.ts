/**
 * Builds the Rust and C examples by the commands in their READMEs, compares them with the committed modules byte for byte, and builds
 * and checks the templates of both languages: `deno task test:debian`, on Debian 12.
 */
import { expect } from "@std/expect";
import { join } from "node:path";
import { blockIn } from "../support/pages.ts";
import { DRY_RUN, PARAMETERS, runCommand, writeTemplate } from "../cli/strategy_support.ts";
import { runTask } from "../support/process.ts";
import { expectLines } from "./probes.ts";

const EXAMPLES = new URL("../../strategies/examples/", import.meta.url).pathname;
// Debian's compilers first: they built the committed modules.
const PATH = "/usr/sbin:/usr/bin:/sbin:/bin";

const MODULES = ["sma_cross", "daily_trend", "momentum_rotation"];

for (const [language, name] of ["c", "rust"].flatMap((language) => MODULES.map((name) => [language, name] as const))) {
  Deno.test(`the ${language} example's command gives the committed module ${name} to the byte`, async () => {
    const example = join(EXAMPLES, language);
    const folder = await Deno.makeTempDir({ prefix: "hindcast-build-" });
    try {
      for await (const { name } of Deno.readDir(example)) {
        if (!name.includes(".wasm")) await Deno.copyFile(join(example, name), join(folder, name));
      }
      const command = buildCommand(await Deno.readTextFile(join(example, "README.md")));
      await runCommand(command.replaceAll("sma_cross", name), folder, PATH);
      const built = await Deno.readFile(join(folder, `${name}.wasm`));
      expect(built).toEqual(await Deno.readFile(join(example, `${name}.wasm`)));
      await runCommand(`sha256sum --check ${join(example, `${name}.wasm.sha256`)}`, folder, PATH);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

for (const [language, source] of [["c", "c"], ["rust", "rs"]] as const) {
  Deno.test(`the bindings of ${language} have the engine's indicators and read every number, to the bit`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "hindcast-build-" });
    try {
      const bindings = `hindcast.${language === "c" ? "h" : source}`;
      await Deno.copyFile(join(EXAMPLES, language, bindings), join(folder, bindings));
      await Deno.copyFile(new URL(`probes/probe.${source}`, import.meta.url), join(folder, `probe.${source}`));
      const command = buildCommand(await Deno.readTextFile(join(EXAMPLES, language, "README.md")));
      await runCommand(command.replaceAll("sma_cross", "probe"), folder, PATH);
      expectLines(await Deno.readFile(join(folder, "probe.wasm")));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

for (const [lang, compiler] of [["c", "clang "], ["rust", "rustc "]] as const) {
  Deno.test(`the ${lang} template builds by its README's command and is accepted`, async () => {
    await using template = await writeTemplate(lang);
    await runCommand(blockIn(template.readme, "sh", compiler), template.folder, PATH);
    const ended = await runTask("strategy", ["check", `${template.folder}/strategy.wasm`, "--parameters", PARAMETERS]);
    expect([ended.code, ended.stderr, ended.stdout]).toEqual([0, "", expect.stringContaining(DRY_RUN)]);
  });
}

/** The first command of an example's README. */
function buildCommand(readme: string): string {
  const [, command = ""] = /```sh\n(.+)\n```/.exec(readme) ?? [];
  return command;
}
