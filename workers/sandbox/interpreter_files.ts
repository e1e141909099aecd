/** The files of the Python interpreter that the build step makes, and that a sandbox process reads. */
import { join } from "node:path";
import { LAYOUT } from "./contracts/layout.ts";

/** The name of a Python script in its errors. */
export const PYTHON_FILE = "strategy.py";
/** Of npm's pyodide, as deno.json pins it. It is CPython 3.14. */
export const PYODIDE_VERSION = "314.0.7";

const ROOT = new URL("./python/", import.meta.url);
export const BUILD = new URL("dist/", ROOT);
/** Our own lines in Python, in the order in which they run. */
const INSIDE = ["memory", "own_series", "indicators", "trades", "orders", "portfolio", "output", "world", "machine"];
const FACTS = "interpreter.json";
const PROGRAM = "interpreter.wasm";
const IMAGE = "memory.bin";

/** A wheel: a package of Python. */
export interface Wheel {
  readonly file: string;
  readonly sha256: string;
}

/** A part of the interpreter's memory. */
export interface MemoryPart {
  readonly address: number;
  readonly bytes: number;
}

/** The facts about a frozen interpreter. */
export interface InterpreterFacts {
  /** The digest of what it was made from. */
  readonly sources: string;
  /** The wheels that it has loaded, by the names of their files. */
  readonly wheels: readonly Wheel[];
  /** Digests of its program and its memory. */
  readonly digests: { readonly program: string; readonly image: string };
  /** Parts of its memory that are not empty, as they follow each other in the image. */
  readonly parts: readonly MemoryPart[];
  readonly stackPointer: number;
  /** The lowest address of its stack. */
  readonly stackEnd: number;
  /** Behind all of its memory. */
  readonly memoryEnd: number;
  /** Functions that are added to its table: the call of C functions, in hexadecimal, and its place. */
  readonly trampoline: { readonly program: string; readonly index: number };
  /** The address of the tuple MACHINE (inside/machine.py). */
  readonly machine: number;
}

/** An interpreter that waits to be resumed. */
export interface FrozenInterpreter {
  readonly facts: InterpreterFacts;
  readonly program: Uint8Array<ArrayBuffer>;
  readonly image: Uint8Array<ArrayBuffer>;
}

/** An interpreter's compiled program, and its memory. */
export interface InterpreterCode extends Omit<FrozenInterpreter, "program"> {
  readonly program: WebAssembly.Module;
}

/** The texts of our own lines in Python, by name. */
export function readInside(): readonly { readonly name: string; readonly text: string }[] {
  return INSIDE.map((name) => ({
    name: `${name}.py`,
    text: Deno.readTextFileSync(new URL(`inside/${name}.py`, ROOT)),
  }));
}

/** The numbers that our lines in Python share with the host, as JSON. */
export function layoutJson(): string {
  return JSON.stringify({ ...LAYOUT, pythonFile: PYTHON_FILE });
}

/** Our lines in Python that load wheels. */
export const readLoader = (): string => Deno.readTextFileSync(new URL("load_wheels.py", ROOT));

/** The wheels of a folder, with their bytes, by the names of their files. */
export async function* readWheels(folder: string): AsyncGenerator<Wheel & { readonly bytes: Uint8Array<ArrayBuffer> }> {
  const files = Array.from(Deno.readDirSync(folder), ({ name }) => name).filter((name) => name.endsWith(".whl"));
  for (const file of files.toSorted()) {
    const bytes = Deno.readFileSync(join(folder, file));
    yield { file, sha256: await digest(bytes), bytes };
  }
}

/** The wheels of a folder; none without one. */
export async function listWheels(folder: string): Promise<readonly Wheel[]> {
  return folder === "" ? [] : await Array.fromAsync(readWheels(folder), ({ file, sha256 }) => ({ file, sha256 }));
}

/** The version of Python and the digests of its wheels: results depend on them. */
export async function readVersions(folder = BUILD): Promise<Readonly<Record<string, unknown>>> {
  const { wheels = [] } = await readFacts(folder) ?? {};
  return { pyodide: PYODIDE_VERSION, ...(wheels.length > 0 && { wheels }) };
}

/** True for an interpreter with these wheels, of this content, and no others. */
export function hasWheels({ wheels }: InterpreterFacts, wanted: readonly Wheel[]): boolean {
  return JSON.stringify(wheels) === JSON.stringify(wanted);
}

/** The digest of everything that an interpreter is made from, without its wheels. */
export async function digestSources(): Promise<string> {
  const made = [PYODIDE_VERSION, layoutJson(), Deno.readTextFileSync(new URL("make_image.ts", ROOT)), readLoader()];
  return await digest(new TextEncoder().encode(JSON.stringify([...made, readInside()])));
}

export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

/** Facts about the interpreter that was built; null: there is none of these sources. */
export async function readFacts(folder = BUILD): Promise<InterpreterFacts | null> {
  try {
    const facts: InterpreterFacts = JSON.parse(await Deno.readTextFile(new URL(FACTS, folder)));
    return facts.sources === await digestSources() ? facts : null;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Reads an interpreter. @throws {Deno.errors.NotFound} When it is not built. */
export function readInterpreter(folder = BUILD): FrozenInterpreter {
  const facts: InterpreterFacts = JSON.parse(Deno.readTextFileSync(new URL(FACTS, folder)));
  return {
    facts,
    program: Deno.readFileSync(new URL(PROGRAM, folder)),
    image: Deno.readFileSync(new URL(IMAGE, folder)),
  };
}

/** Checks the files of an interpreter against their digests. */
export async function isWhole(facts: InterpreterFacts, folder = BUILD): Promise<boolean> {
  const { program, image } = readInterpreter(folder);
  return await digest(program) === facts.digests.program && await digest(image) === facts.digests.image;
}

/** Writes an interpreter into a folder. */
export function writeInterpreter(folder: URL, { facts, program, image }: FrozenInterpreter): void {
  Deno.writeFileSync(new URL(PROGRAM, folder), program);
  Deno.writeFileSync(new URL(IMAGE, folder), image);
  Deno.writeTextFileSync(new URL(FACTS, folder), JSON.stringify(facts));
}
