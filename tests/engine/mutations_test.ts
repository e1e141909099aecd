import { expect } from "@std/expect";
import { COPIED, MUTATIONS } from "./mutations_list.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

Deno.test("every mutation's text stands exactly once in its source file", () => {
  const count = ({ file, text }: { file: string; text: string }) =>
    Deno.readTextFileSync(ROOT + file).split(text).length - 1;
  expect(MUTATIONS.filter((mutation) => count(mutation) !== 1)).toEqual([]);
});

Deno.test("every mutation changes something and breaks its own rule", () => {
  expect(MUTATIONS.length).toBeGreaterThanOrEqual(25);
  expect(MUTATIONS.filter(({ text, replacement }) => text === replacement)).toEqual([]);
  expect(new Set(MUTATIONS.map(({ rule }) => rule)).size).toBe(MUTATIONS.length);
});

Deno.test("COPIED holds everything that the engine's tests import", async () => {
  const tests = [...Deno.readDirSync(new URL(".", import.meta.url))].filter(({ name }) => name.endsWith("_test.ts"));
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(
    entry,
    tests.map(({ name }) => `import ${JSON.stringify(import.meta.resolve(`./${name}`))};`).join("\n"),
  );
  try {
    const args = ["info", "--json", "--config", `${ROOT}deno.json`, entry];
    const { stdout } = await new Deno.Command("deno", { args, stderr: "null" }).output();
    const modules: readonly { readonly specifier: string }[] = JSON.parse(new TextDecoder().decode(stdout)).modules;
    const own = modules.map(({ specifier }) => specifier.replace(`file://${ROOT}`, ""));
    expect(own).toContain("engine/run.ts");
    const isCopied = (path: string) => COPIED.some((copied) => path === copied || path.startsWith(`${copied}/`));
    expect(own.filter((path) => /^[a-z]+\//.test(path) && !isCopied(path))).toEqual([]);
  } finally {
    await Deno.remove(entry);
  }
});
