/** Writes dist/client: the npm package `@hindcast/client`, whose types hold those of every procedure. */
import { fileURLToPath } from "node:url";
import ts from "typescript";
import manifest from "../deno.json" with { type: "json" };
import { printRouter } from "./print_router.ts";

const ROOT = new URL("../", import.meta.url);
const ROUTER = "../routers/app.ts";
const DEPENDENCIES: Readonly<Record<string, string>> = {
  ...manifest.imports,
  ...manifest.scopes["./client/"],
};
const OPTIONS: ts.CompilerOptions = {
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.iterable.d.ts", "lib.dom.asynciterable.d.ts"],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  noEmit: true,
  noUncheckedIndexedAccess: true,
  resolveJsonModule: true,
  skipLibCheck: true,
  strict: true,
  target: ts.ScriptTarget.ES2022,
  types: [],
};

if (import.meta.main) {
  const folder = new URL("dist/client/", ROOT);
  await buildPackage(folder);
  Deno.stdout.writeSync(
    new TextEncoder().encode(`Wrote ${fileURLToPath(folder)}. Next: npm pack ${fileURLToPath(folder)}\n`),
  );
}

/**
 * Writes the package.
 *
 * @param folder Removed first, if it is there.
 * @throws Error where a type of a procedure cannot be printed in full.
 */
async function buildPackage(folder: URL): Promise<void> {
  const source = await Deno.readTextFile(new URL("index.ts", import.meta.url));
  const path = fileURLToPath(new URL(ROUTER, import.meta.url));
  const router = printRouter(ts.createProgram([path], OPTIONS), path);
  const files = {
    "index.js": ts.transpile(source, { ...OPTIONS, noEmit: false, verbatimModuleSyntax: true }),
    "index.d.ts": toDeclaration(source, router),
    "package.json": `${JSON.stringify(describePackage(source), null, 2)}\n`,
    "README.md": await Deno.readTextFile(new URL("package_readme.md", import.meta.url)),
    LICENSE: await Deno.readTextFile(new URL("LICENSE", ROOT)),
  };
  await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(new URL(name, folder), text);
}

/** The declaration of index.ts, with the router's type in place of its import. */
function toDeclaration(source: string, router: string): string {
  const { outputText, diagnostics = [] } = ts.transpileDeclaration(source, {
    compilerOptions: { ...OPTIONS, noEmit: false, declaration: true, isolatedDeclarations: true },
    reportDiagnostics: true,
  });
  const [fault] = diagnostics;
  if (fault !== undefined) {
    throw new Error(`Cannot declare client/index.ts: ${ts.flattenDiagnosticMessageText(fault.messageText, " ")}`);
  }
  const line = `import type { AppRouter } from "${ROUTER}";`;
  if (!outputText.includes(line)) throw new Error(`Cannot declare client/index.ts: it has no line ${line}`);
  const text = outputText.replace(line, () => router).replace("export type { AppRouter };\n", "");
  return ts.createPrinter().printFile(ts.createSourceFile("index.d.ts", text, ts.ScriptTarget.ES2022));
}

function describePackage(source: string) {
  const imported = ts.preProcessFile(source).importedFiles.map(({ fileName }) => fileName)
    .filter((name) => !name.startsWith("."));
  return {
    name: "@hindcast/client",
    version: manifest.version,
    description: "Typed client of Hindcast, the backtesting service",
    license: manifest.license,
    type: "module",
    sideEffects: false,
    exports: { ".": { types: "./index.d.ts", default: "./index.js" } },
    engines: { node: ">=20" },
    dependencies: Object.fromEntries([...new Set(imported)].sort().map((name) => [name, versionOf(name)])),
  };
}

function versionOf(name: string): string {
  const version = DEPENDENCIES[name]?.split("@").at(-1);
  if (version === undefined) throw new Error(`Cannot pin ${name} in the package: name it in deno.json`);
  return version;
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
