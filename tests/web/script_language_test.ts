/** The editor's two languages: which one a text is in, and the names of each from one declaration. */
import { expect } from "@std/expect";
import { readDeclaration } from "../../web/src/pages/strategies/editor/declaration.ts";
import { languageOf, toPython } from "../../web/src/pages/strategies/editor/script_language.ts";
import { findPlace } from "../../web/src/pages/strategies/editor/script_place.ts";
import { logOfPython } from "../workers/sandbox/python/python_scripts.ts";

const read = (path: string) => Deno.readTextFile(new URL(`../../strategies/${path}`, import.meta.url));

Deno.test("a text with a class of Strategy or Portfolio is Python", async () => {
  for (const name of ["sma_cross", "turtle", "grid", "portfolio/momentum_rotation"]) {
    expect(languageOf(await read(`scripts_python/${name}.py`))).toBe("python");
    expect(languageOf(await read(`scripts/${name}.ts`))).toBe("typescript");
  }
  expect(findPlace("Cannot use the script: strategy.py:3:7: SyntaxError")).toEqual({ line: 3, column: 7 });
});

Deno.test("the names that the editor completes in Python are there", async () => {
  const { globals, members } = toPython(readDeclaration(await read("scripts/strategy.d.ts")));
  const names = globals.map(({ name }) => name);
  expect(names).toContain("crosses_above");
  expect(names).toContain("anchored_vwap");
  expect(await logOfPython(`if i == 0: print(all(each is not None for each in (${names.join(", ")})))`)).toEqual([
    "True",
  ]);
  for (const [type, variable] of [["Orders", "orders"], ["Account", "account"], ["Candles", "candles"]]) {
    const known = members.get(type!)!.map(({ name }) => `${variable}.${name}`);
    expect(known.length).toBeGreaterThan(4);
    expect(await logOfPython(`if i == 0: print(len((${known.join(", ")})))`)).toEqual([String(known.length)]);
  }
});
