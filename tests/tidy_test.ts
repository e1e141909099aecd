/** The tree is the architecture: this holds who may import whom, sizes, and what no file may contain. */
import { expect } from "@std/expect";
import { findCircles } from "./support/find_circles.ts";
import { findLoneExports } from "./support/find_lone_exports.ts";
import { findRiddles } from "./support/find_riddles.ts";
import { IMPORTS } from "./support/import_table.ts";
import { makeLocks } from "./support/service_lock.ts";
import { dirname, join, relative } from "node:path";

const ROOT = new URL("..", import.meta.url).pathname;
const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 300;

/** Everything that is shipped; authors' examples and templates are read as text and not as part of the house. */
const PRODUCT =
  /^((bench|cli|client|db|engine|market|research|routers|server|strategies\/builtin|web|workers)\/(?!templates\/)|main\.ts$)/;
/** Folders whose file names count among themselves: each runtime names its parts alike. */
const OWN_NAMES = /^workers\/sandbox\/(wasm|remote|script|python)\//;
/** Files that may have equal names, and why. */
const EQUAL_NAMES: readonly (readonly [why: string, files: RegExp])[] = [
  ["a noun has its SQL in db/ and its rules in routers/", /^(db|routers(\/\w+)?)\/\w+\.ts$/],
  ["an app is put together in each of the two layers", /^(routers|server)\/app\.ts$/],
  [
    "a built-in strategy is named by its slug, its indicator by its name",
    /^(strategies\/builtin|engine\/indicators)\/\w+\.ts$/,
  ],
  ["programs start in main.ts", /(^|\/)main\.ts$/],
];
/** Folders of what others wrote, and of the console's build. */
const NO_SOURCES = /^(node_modules|dist(-.*)?)$/;
// These use no library and not even the runtime: columns in, columns out.
const PURE = ["engine/", "research/", "strategies/builtin/"];
// Users' code is compiled in a process without rights, PGlite's own program where the embedded database is opened.
const COMPILES = ["workers/sandbox/", "tests/", "db/embedded/pglite_files.ts"];

interface Found {
  readonly imports: { specifier: string; typeOnly: boolean }[];
  readonly complaints: string[];
  /** Lines of tables: constants of a module that are written out. They do not count to a file's length. */
  tableLines: number;
  /** Where WebAssembly is named in code. */
  readonly compiles: string[];
}

const sources = listSources(ROOT);
const inspected = new Map<string, Found>();

Deno.test("there are sources to look at", () => {
  expect(sources.length).toBeGreaterThan(40);
});

Deno.test("every file imports only what its folder may", () => {
  const complaints = sources.flatMap((path) =>
    inspect(path).imports.map((found) => complainAbout(path, found)).filter((line) => line !== null)
  );
  expect(complaints).toEqual([]);
});

Deno.test("no file imports itself through others, types included", () => {
  expect(findCircles(importsOf(sources.filter((path) => PRODUCT.test(path))))).toEqual([]);
});

Deno.test("no folder imports itself through others", () => {
  const folders = new Map<string, string[]>();
  for (const [path, targets] of importsOf(sources.filter((path) => PRODUCT.test(path)))) {
    const others = targets.map((target) => dirname(target)).filter((folder) => folder !== dirname(path));
    folders.set(dirname(path), [...new Set([...folders.get(dirname(path)) ?? [], ...others])]);
  }
  expect(findCircles(folders)).toEqual([]);
});

Deno.test("no two files have the same name, but by a convention", () => {
  expect(findEqualNames(sources.filter((path) => PRODUCT.test(path)))).toEqual([]);
});

Deno.test("nothing is exported for tests or benches alone", () => {
  const products = sources.filter((path) => PRODUCT.test(path) && !path.startsWith("bench/"));
  expect(findLoneExports(new Map(products.map((path) => [path, read(path)])))).toEqual([]);
});

Deno.test("WebAssembly is compiled and called in the sandbox and nowhere else", () => {
  const others = sources.filter((path) => !COMPILES.some((folder) => path.startsWith(folder)));
  // Move such code into workers/sandbox, where a user's code has no rights.
  expect(others.flatMap((path) => inspect(path).compiles)).toEqual([]);
  expect(inspect("workers/sandbox/wasm/maker.ts").compiles).not.toEqual([]);
});

/** The whole language of scripts: an author's editor takes one file. */
const DECLARATION = "strategies/scripts/strategy.d.ts";
/** Authors copy the bindings of a language as one file. */
const BINDINGS = /^strategies\/examples\/\w+\/hindcast\.ts$/;
const SCRIPTS = /^(strategies|tests\/workers\/sandbox)\/scripts?\//;

Deno.test("functions fit a screen and files a sitting, tables and factories aside", () => {
  const long = sources.filter((path) => !BINDINGS.test(path) && path !== DECLARATION).flatMap((path) => {
    const lines = countLines(path) - inspect(path).tableLines;
    return lines <= FILE_LINES_MAX ? [] : [
      `${path} has ${lines} lines besides its tables, and ${FILE_LINES_MAX} fit a sitting: part it by meaning, each part with a ` +
      "name that says what it does. If no part has such a name, look for what the file does twice, or for others.",
    ];
  });
  const own = sources.filter((path) => !path.endsWith(".d.ts"));
  expect([...long, ...own.flatMap((path) => inspect(path).complaints)]).toEqual([]);
});

Deno.test("no file has any, console.log, a bare TODO, or a path that only a folder without spaces has", () => {
  const complaints = sources.flatMap((path) => {
    const text = read(path);
    const lines: string[] = [];
    if (/\bconsole\.\w+\(/.test(text) && !SCRIPTS.test(path)) {
      lines.push(`${path} writes to the console: the service logs by server/log.ts, a command says by cli/terminal.ts`);
    }
    if (/\bTODO\b(?!\([^)]+\): \S)/.test(text) && path !== "tests/tidy_test.ts") {
      lines.push(`${path} has a TODO: do it, or write TODO(who): why it cannot be done now`);
    }
    // Escaped, as it is in a folder whose name has a space: fileURLToPath from node:url gives the path itself.
    if (!/^(tests|bench)\//.test(path) && /import\.meta\.url\)\.pathname/.test(text)) {
      lines.push(`${path} opens a URL's path, where a space is %20: take fileURLToPath of node:url`);
    }
    if (/@ts-(ignore|nocheck|expect-error)/.test(text) && path !== "tests/tidy_test.ts") {
      lines.push(`${path} silences the compiler: give the value the type that it has, or check it`);
    }
    return lines;
  });
  expect(complaints).toEqual([]);
});

Deno.test("docstrings name their thing at once", () => {
  expect(sources.flatMap((path) => findRiddles(path, read(path)))).toEqual([]);
});

Deno.test("the checks notice what they are for", () => {
  expect(findRiddles("x.ts", `/${"**"} What a token may. */`).length).toBe(1);
  expect(complainAbout("engine/run.ts", { specifier: "../db/client.ts", typeOnly: false })).toMatch(/engine\/run/);
  expect(complainAbout("engine/run.ts", { specifier: "zod", typeOnly: false })).toMatch(/zod/);
  expect(complainAbout("market/archive/read.ts", { specifier: "../../engine/run.ts", typeOnly: false })).toMatch(/run/);
  expect(complainAbout("market/archive/read.ts", { specifier: "../../engine/run.ts", typeOnly: true })).toBeNull();
  const long = `function f() {\n${"f();\n".repeat(FUNCTION_LINES_MAX)}}\nconst x: any = 1;`;
  expect(inspectText("x.ts", long).complaints.length).toBe(2);
  const lone = new Map([["db/a.ts", "export const one = 1;\nexport function two() {}"], [
    "db/b.ts",
    'import { one } from "./a.ts";',
  ]]);
  expect(findLoneExports(lone)).toEqual([expect.stringMatching(/^db\/a\.ts:two is exported/)]);
  const circle = new Map([["a.ts", ["b.ts", "d.ts"]], ["b.ts", ["c.ts"]], ["c.ts", ["a.ts"]], ["d.ts", []]]);
  expect(findCircles(circle)).toEqual([expect.stringMatching(/^a\.ts -> b\.ts -> c\.ts -> a\.ts: /)]);
  expect(findEqualNames(["db/runs.ts", "routers/runs/runs.ts", "db/client.ts", "workers/sandbox/remote/client.ts"]))
    .toEqual(
      [],
    );
  expect(findEqualNames(["db/runs.ts", "market/feeds/runs.ts"])).toEqual([
    expect.stringMatching(/^db\/runs\.ts, market\/feeds\/runs\.ts: /),
  ]);
  const table = `export const T = {\n${
    "  a: 1,\n".repeat(9)
  }} as const satisfies object;\nfunction f() {\n  return [\n];\n}`;
  expect(inspectText("x.ts", table).tableLines).toBe(10);
  const inner = `  const g = () => {\n${"g();\n".repeat(FUNCTION_LINES_MAX - 2)}};\n`;
  expect(inspectText("x.ts", `function f() {\n${inner}${inner}}`).complaints).toEqual([]);
  const named = 'WebAssembly.validate(bytes);\nconst { WebAssembly: w } = globalThis;\nglobalThis["WebAssembly"];';
  expect(inspectText("x.ts", `// WebAssembly.validate(bytes)\n${named}`).compiles.length).toBe(3);
});

function complainAbout(path: string, { specifier, typeOnly }: Found["imports"][number]): string | null {
  if (!specifier.startsWith(".")) {
    return PURE.some((folder) => path.startsWith(folder))
      ? `${path} must be pure but imports ${specifier}: pass in what it needs as an argument`
      : null;
  }
  const target = relative(ROOT, join(ROOT, dirname(path), specifier));
  const row = IMPORTS.find(([from]) => path.startsWith(from));
  if (row === undefined) {
    return `${path} is in no row of tests/support/import_table.ts: add its room with what it may import`;
  }
  const allowed = row[1].some((to) =>
    to === "*" || target.startsWith(to) || (typeOnly && to.startsWith("types:") && target.startsWith(to.slice(6)))
  );
  if (allowed) return null;
  return `${path} may not import ${target}: move what both need to a room that both may import, or pass it in as an argument; ` +
    `where the design itself changes, the row ${row[0]} of tests/support/import_table.ts says so, with its reason`;
}

/** The product files that each file imports. */
function importsOf(paths: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(paths);
  const targetsOf = (path: string) =>
    inspect(path).imports.map(({ specifier }) => join(dirname(path), specifier)).filter((target) => known.has(target));
  return new Map(paths.map((path) => [path, targetsOf(path)]));
}

/** Groups of files with the same name that no convention allows. */
function findEqualNames(paths: readonly string[]): string[] {
  const named = Map.groupBy(paths.filter((path) => !OWN_NAMES.test(path)), (path) => path.split("/").at(-1)!);
  return [...named.values()]
    .filter((group) => group.length > 1 && !EQUAL_NAMES.some(([, files]) => group.every((path) => files.test(path))))
    .map((group) => `${group.join(", ")}: name each by what it does in its room`);
}

function inspect(path: string): Found {
  const found = inspected.get(path) ?? inspectText(path, read(path));
  inspected.set(path, found);
  return found;
}

interface Ranged {
  readonly range: [number, number];
}

type Node = Deno.lint.Expression;

const isWithin = ({ range: [begin, end] }: Ranged, { range }: Ranged) => range[0] <= begin && end <= range[1];

/** True for a literal object or array, whatever its type is said to be. */
function isTable(node: Node): boolean {
  if (node.type === "TSAsExpression" || node.type === "TSSatisfiesExpression") return isTable(node.expression);
  return node.type === "ObjectExpression" || node.type === "ArrayExpression";
}

function inspectText(path: string, text: string): Found {
  const found: Found = { imports: [], complaints: [], compiles: [], tableLines: 0 };
  const lineOf = (offset: number) => text.slice(0, offset).split("\n").length;
  const linesOf = ({ range: [begin, end] }: Ranged) => lineOf(end) - lineOf(begin) + 1;
  const functions: Ranged[] = [];
  const measure = (node: Ranged) => void functions.push(node);
  const keep = (specifier: string, typeOnly: boolean) => void found.imports.push({ specifier, typeOnly });
  const plugin: Deno.lint.Plugin = {
    name: "tidy",
    rules: {
      look: {
        create: () => ({
          // A test's body is a sequence of steps, read from top to bottom: files, not functions, bound it.
          FunctionDeclaration: measure,
          FunctionExpression: measure,
          ArrowFunctionExpression: (node) => path.startsWith("tests/") ? undefined : measure(node),
          Identifier: (node) => {
            if (node.name === "WebAssembly") found.compiles.push(`${path}:${lineOf(node.range[0])} names WebAssembly`);
          },
          Literal: (node) => {
            if (node.value === "WebAssembly") found.compiles.push(`${path}:${lineOf(node.range[0])} names WebAssembly`);
          },
          "Program > VariableDeclaration > VariableDeclarator, Program > ExportNamedDeclaration > VariableDeclaration > VariableDeclarator":
            ({ init }: { init: Node | null }) => {
              if (init !== null && isTable(init)) found.tableLines += linesOf(init) - 1;
            },
          TSAnyKeyword: (node) =>
            void found.complaints.push(`${path}:${lineOf(node.range[0])} has an any: write unknown, and check it`),
          ImportDeclaration: (node) => {
            const inner = node.specifiers.length > 0 &&
              node.specifiers.every((one) => one.type === "ImportSpecifier" && one.importKind === "type");
            keep(node.source.value, node.importKind === "type" || inner);
          },
          ImportExpression: (node) => {
            if (node.source.type === "Literal" && typeof node.source.value === "string") keep(node.source.value, false);
          },
          ExportAllDeclaration: (node) => keep(node.source.value, node.exportKind === "type"),
          ExportNamedDeclaration: (node) => {
            if (node.source !== null) keep(node.source.value, node.exportKind === "type");
          },
        }),
      },
    },
  };
  Deno.lint.runPlugin(plugin, path, text);
  for (const one of functions) {
    const inner = functions.filter((other) => other !== one && isWithin(other, one));
    const direct = inner.filter((each) => !inner.some((other) => other !== each && isWithin(each, other)));
    // A factory's functions count by themselves.
    const lines = linesOf(one) - direct.reduce((sum, each) => sum + linesOf(each) - 1, 0);
    if (lines <= FUNCTION_LINES_MAX) continue;
    found.complaints.push(
      `${path}:${
        lineOf(one.range[0])
      } has a function of ${lines} lines, and ${FUNCTION_LINES_MAX} fit a screen: give the steps ` +
        "that it takes names, and make those functions that can be understood alone",
    );
  }
  return found;
}

function read(path: string): string {
  return Deno.readTextFileSync(join(ROOT, path));
}

function countLines(path: string): number {
  return read(path).split("\n").length - 1;
}

function listSources(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap((entry): string[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory) return entry.name.startsWith(".") || NO_SOURCES.test(entry.name) ? [] : listSources(path);
    return entry.isFile && /\.tsx?$/.test(entry.name) ? [relative(ROOT, path)] : [];
  }).sort();
}

Deno.test("the locks of the service and of the console are the parts of deno.lock that they need", async () => {
  for (const [path, text] of Object.entries(await makeLocks())) {
    expect(read(path) === text ? "" : `${path} is out of date: run \`deno task lock\``).toBe("");
  }
});
