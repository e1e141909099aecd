import { expect } from "@std/expect";
import ts from "typescript";
import { printType } from "../../client/print_type.ts";

const SOURCE = `import type { Gone } from "./gone.ts";
interface Issue { readonly path: string; message?: string | null }
interface Tree { children: Tree[] }
export interface Types {
  full: { issues: readonly Issue[]; "two words": [1, boolean] };
  lost: { deep: Gone[] };
  endless: Tree;
  call: { run(): void };
}`;

Deno.test("a type is printed in full, or refused with its name", async () => {
  const path = await Deno.makeTempFile({ prefix: "hindcast-test-", suffix: ".ts" });
  await Deno.writeTextFile(path, SOURCE);
  const program = ts.createProgram([path], { strict: true, types: [], allowImportingTsExtensions: true, noEmit: true });
  const checker = program.getTypeChecker();
  const [types] = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(path)!)!);
  const print = (name: string) => {
    const symbol = checker.getPropertyOfType(checker.getDeclaredTypeOfSymbol(types!), name)!;
    return printType(checker, checker.getTypeOfSymbol(symbol), name);
  };
  expect(print("full")).toBe(
    '{ issues: ReadonlyArray<{ path: string; message?: undefined | null | string; }>; "two words": [1, boolean]; }',
  );
  expect(() => print("lost")).toThrow("Cannot print the type of lost: it has an any");
  expect(() => print("endless")).toThrow("Cannot print the type of endless: it holds itself");
  expect(() => print("call")).toThrow("Cannot print the type of call: it has a function");
  await Deno.remove(path);
});
