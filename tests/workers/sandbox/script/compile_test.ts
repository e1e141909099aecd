/** Sources that are no script, with the place of the mistake. */
import { expect } from "@std/expect";
import { compileScript } from "../../../../workers/sandbox/script/compile.ts";
import { deciding, failureOf, playScript } from "./scripts.ts";

const BAD: readonly (readonly [name: string, source: string, message: RegExp])[] = [
  ["a mistake in the first line", "const a = ;", /^strategy\.ts:1:11: Expression expected$/],
  ["a mistake behind types", "const a: number = 1;\ntype B = {};\nfoo(;\n", /^strategy\.ts:3:5: /],
  [
    "an enum",
    "let a = 1;\nenum B { C }",
    /^strategy\.ts:2:1: enum cannot be used: only types are taken out, and this is code$/,
  ],
  ["a namespace", "namespace N { export const a = 1 }", /^strategy\.ts:1:1: namespace declaration cannot be used/],
  ["a decorator", "class A { @b c = 1 }", /^strategy\.ts/],
  [
    "a parameter property",
    "class A { constructor(private b: number) {} }",
    /^strategy\.ts:1:31: parameter property cannot be used/,
  ],
  ["a static import", 'import fs from "node:fs";', /^strategy\.ts:1:1: import cannot be used/],
  ["a dynamic import", 'const a = 1;\n  import("node:process")', /^strategy\.ts:2:3: import cannot be used/],
  ["a dynamic import behind a comment", 'import/**/("node:process")', /import cannot be used/],
  ["an import behind a text like a comment", 'const a = "//"; import("node:process")', /import cannot be used/],
  ["an import in quotes", 'const a = "import";', /^strategy\.ts:1:12: import cannot be used/],
  ["import.meta", "import.meta.url", /import cannot be used/],
  ["an export", "export const a = 1;", /^strategy\.ts/],
  ["await at the top", "await 1;", /^strategy\.ts.*await/],
  ["assignment to nothing known in a string", '"use strict"; let let = 1', /^strategy\.ts/],
  ["an open brace", "strategy(() => ({", /^strategy\.ts/],
  ["an open comment", "/* strategy", /^strategy\.ts/],
  ["an open template", "`${1", /^strategy\.ts/],
  ["a regular expression", "const a = /(/;", /^strategy\.ts/],
  ["half a surrogate pair", 'const a = "\ud800";', /half of a surrogate pair/],
  ["257 KiB", `// ${"x".repeat(257 * 1024)}`, /at most 262144 are accepted/],
];

Deno.test("a source that is no script is refused with its line and column, and never runs", async (t) => {
  for (const [name, source, message] of BAD) {
    await t.step(name, async () => {
      const before = Object.keys(globalThis).length;
      const failure = await failureOf(() => compileScript(source));
      expect(failure).toMatch(message);
      expect(failure).not.toMatch(/file:|ext:|data:/);
      expect(Object.keys(globalThis).length).toBe(before);
    });
  }
});

Deno.test("import is a word in a comment, and no import where an expression looks like one", async () => {
  const harmless = `// import nothing\n/* nor\nimport("node:process") */\n${deciding("if (i === 0) orders.buy();")}`;
  expect((await playScript(harmless, [10, 11, 12])).result.orders.count).toBe(1);
  for (const hidden of ['/[/*]/; import("node:process") /**/', 'const a = /[//]/, b = import("node:process")']) {
    expect(await failureOf(() => playScript(`${hidden}\n${deciding("")}`, [1]))).toMatch(/Import is not defined/);
  }
});

Deno.test("a source is parsed for its mistakes without being run", async () => {
  // Each would be a program if the text that follows it could complete it.
  for (const end of ["f(", "x = [", "`", "(0,", "/", "a.", "// ", "x = ", '"\\']) {
    const source = `globalThis.ran = true; const x: any = ;\n${end}`;
    expect(await failureOf(() => compileScript(source))).toMatch(/^strategy\.ts/);
    expect(Reflect.has(globalThis, "ran")).toBe(false);
  }
});

Deno.test("whatever else a text may begin or end with does no harm", async () => {
  for (
    const wrap of [
      (s: string) => `\ufeff${s}`,
      (s: string) => `#!/usr/bin/env x\n${s}`,
      (s: string) => `${s}\u2028`,
      (s: string) => `${s}\n//# sourceMappingURL=data:,x`,
      (s: string) => `${s}\n//# sourceURL=file:///x.ts`,
      (s: string) => s.replaceAll("\n", "\r\n"),
      (s: string) => `'use client';\n${s}`,
    ]
  ) {
    const { result } = await playScript(wrap(deciding("if (i === 0) orders.buy();")), [10, 11, 12]);
    expect(result.orders.count).toBe(1);
  }
});
