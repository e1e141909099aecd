/** Marks of places: they change nothing that a script does, and stand where they say. */
import { expect } from "@std/expect";
import { findDescription } from "../../../../strategies/builtin/catalogue/descriptions.ts";
import { sampleCandles } from "../../../../workers/sandbox/sample_candles.ts";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { readPlace } from "../../../../workers/sandbox/contracts/places.ts";
import { markPlaces } from "../../../../workers/sandbox/script/mark_places.ts";
import { playScript } from "./scripts.ts";

const SCRIPTS = new URL("../../../../strategies/scripts/", import.meta.url);

/** The parameters of a built-in strategy's script. */
function defaultsOf(file: string): object {
  const rules = findDescription(file.slice(0, -3).replaceAll("_", "-"))?.parameter_schema.properties ?? {};
  return Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, Object(rule).default]));
}

Deno.test("every script of the repository trades with marks as without them", async (t) => {
  for (const folder of ["", "examples/"]) {
    for (const { name } of Deno.readDirSync(new URL(folder, SCRIPTS))) {
      if (!name.endsWith(".ts") || name.endsWith(".d.ts")) continue;
      await t.step(folder + name, async () => {
        const source = await Deno.readTextFile(new URL(folder + name, SCRIPTS));
        if (/inputs/.test(source)) return;
        const parameters = defaultsOf(name);
        const plain = await playScript(source, sampleCandles(), { parameters });
        let seen = 0;
        const marked = await playScript(
          source,
          sampleCandles(),
          { parameters },
          (text) => compileScript(text, () => void seen++),
        );
        expect(JSON.stringify(marked.result)).toBe(JSON.stringify(plain.result));
        expect(seen).toBeGreaterThan(0);
      });
    }
  }
});

Deno.test("marks stand before statements and in the heads of loops, and not in texts, patterns, comments and classes", () => {
  const marks = (code: string) => {
    const marked = markPlaces(code);
    // It must still be a program.
    new Function(marked);
    return [...marked.matchAll(/__hindcastPlaces\[1\]=(\d+)/g)].map(([, mark]) => readPlace(Number(mark)));
  };
  expect(marks("while (a) b();")).toEqual(["1:8", "1:15"]);
  expect(marks("for (;;) {\n  b();\n}")).toEqual(["1:7", "2:3", "3:1"]);
  expect(marks("for (let i = 0; i < 9; i++) b(i);")).toEqual(["1:17", "1:34"]);
  expect(marks("for (const c of d) e(c)")).toEqual([]);
  expect(marks("if (a) b(); else c();")).toEqual(["1:22"]);
  expect(marks("do a(); while (b);")).toEqual(["1:16", "1:19"]);
  expect(marks("switch (a) { case 1: b(); break; default: c() }")).toEqual([]);
  expect(marks("class A { b = 1; c() { d(); } }")).toEqual(["1:24", "1:29"]);
  expect(marks('"while (a) { b; }"; /while (a) {;/.test(`for (;;) ${a} {;`) // ; while (\n/* ; */')).toEqual(["1:21"]);
  expect(marks("const a = { b: 1 }; const c = a.b / 2; const d = 4 / c; e => { f }")).toEqual([
    ...["1:21", "1:40", "1:57"],
    "1:64",
  ]);
});

Deno.test("a mark far to the right of a line names the line alone", () => {
  const marked = markPlaces(`${" ".repeat(5000)}a(); b();`);
  const mark = Number(/=(\d+);/.exec(marked)?.[1]);
  expect(readPlace(mark)).toBe("1");
});
