/**
 * Makes an interpreter: `make_image.ts FOLDER WHEELS`. It starts CPython once with all of pyodide, has it run our own lines, takes away what
 * leads out of it, and writes its memory. A sandbox resumes that memory without pyodide's JavaScript (interpreter.ts).
 */
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadPyodide } from "pyodide";
import {
  digest,
  digestSources,
  type InterpreterFacts,
  layoutJson,
  type MemoryPart,
  readInside,
  readLoader,
  readWheels,
  writeInterpreter,
} from "../interpreter_files.ts";

const PART_BYTES = 4096;
const PYODIDE = new URL("./", import.meta.resolve("pyodide"));
/** Makes the dictionary WHEELS: modules by name. */
const LOAD_WHEELS = "WHEELS = load_wheels([(name, bytes(data)) for name, data in wheels])\ndel wheels, load_wheels";
/** Runs at the end: what is left in memory must lead nowhere. */
const CLOSE = `
def close():
    import gc, sys
    for name in list(sys.modules):
        if name.partition(".")[0] in ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "webbrowser"):
            del sys.modules[name]
    sys.meta_path.clear(); sys.path_hooks.clear(); sys.path.clear(); sys.path_importer_cache.clear()
    gc.collect()
    gc.freeze()
close()
`;

type Exports = WebAssembly.Exports;
type Call = (...args: readonly number[]) => number;

const [folder = "", wheelsFolder = ""] = Deno.args;
const caught = catchPrograms();
const python = await loadPyodide({
  indexURL: fileURLToPath(PYODIDE),
  jsglobals: Object.create(null),
  env: { PYTHONHASHSEED: "0", HOME: "/" },
});
const wheels = wheelsFolder === "" ? [] : await Array.fromAsync(readWheels(wheelsFolder));
python.globals.set("wheels", python.toPy(wheels.map(({ file, bytes }) => [file, bytes])));
python.runPython(readLoader());
try {
  python.runPython(LOAD_WHEELS);
} catch (error) {
  // The last line of its traceback has the reason.
  const reason = error instanceof Error ? error.message.trim().split("\n").at(-1) : String(error);
  Deno.stderr.writeSync(new TextEncoder().encode(`PYTHON_WHEELS: ${reason}\n`));
  Deno.exit(1);
}
python.globals.set("layout", layoutJson());
python.globals.set("inside", python.toPy(readInside().map(({ name, text }) => [name, text])));
// `__main__` is emptied: what a strategy finds is what MACHINE holds.
const machine: unknown = python.runPython(`
def load(layout, inside):
    import json, sys
    codes = [compile(text, name, "exec") for name, text in inside]
    names = {"__name__": "hindcast", "LAYOUT": json.loads(layout), "CODES": codes, "WHEELS": WHEELS}
    for code in codes:
        exec(code, names)
    sys.modules["hindcast"] = names["MACHINE"]
    return id(names["MACHINE"])
address = load(layout, inside.to_py() if hasattr(inside, "to_py") else inside)
${CLOSE}
del layout, inside, load, close, WHEELS
address
`);
const { exports, trampoline } = caught();
writeInterpreter(pathToFileURL(`${folder}/`), await freeze(exports, Number(machine), trampoline));
Deno.exit();

/** Watches for the interpreter's own program and the one that it makes to call functions of C. */
function catchPrograms(): () => { readonly exports: Exports; readonly trampoline: Uint8Array } {
  const { instantiate, Module } = WebAssembly;
  let exports: Exports = {};
  let trampoline = new Uint8Array(0);
  const watched = async (source: BufferSource, imports?: WebAssembly.Imports) => {
    const made = await instantiate(source, imports);
    // From a module that is compiled already, the runtime makes the instance alone.
    const found = "instance" in made ? made.instance.exports : {};
    if ("PyRun_StringFlags" in found) exports = found;
    return made;
  };
  Reflect.set(WebAssembly, "instantiate", watched);
  Reflect.set(
    WebAssembly,
    "Module",
    new Proxy(Module, {
      construct(_target, [bytes]: [Uint8Array<ArrayBuffer>]) {
        const module = new Module(bytes);
        if (Module.exports(module).some(({ name }) => name === "trampoline_call")) trampoline = bytes;
        return module;
      },
    }),
  );
  return () => ({ exports, trampoline });
}

async function freeze(exports: Exports, machine: number, trampoline: Uint8Array) {
  const { memory, __indirect_function_table: table } = exports;
  if (!(memory instanceof WebAssembly.Memory) || !(table instanceof WebAssembly.Table)) {
    throw new TypeError("Cannot find the interpreter's memory");
  }
  const memoryEnd = callOf(exports, "sbrk")(0);
  const stackEnd = callOf(exports, "emscripten_stack_get_end")();
  const stackPointer = callOf(exports, "emscripten_stack_get_current")();
  const heap = new Uint8Array(memory.buffer, 0, memoryEnd);
  const parts = findParts(heap, stackEnd, stackPointer);
  const image = new Uint8Array(parts.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const { address, bytes } of parts) {
    image.set(heap.subarray(address, address + bytes), at);
    at += bytes;
  }
  const program = Deno.readFileSync(new URL("pyodide.asm.wasm", PYODIDE));
  const facts: InterpreterFacts = {
    sources: await digestSources(),
    wheels: wheels.map(({ file, sha256 }) => ({ file, sha256 })),
    digests: { program: await digest(program), image: await digest(image) },
    parts,
    stackPointer,
    stackEnd,
    memoryEnd,
    trampoline: { program: trampoline.toHex(), index: table.length - 1 },
    machine,
  };
  return { facts, program, image };
}

/** The parts that are not empty, without what is free of the stack. */
function findParts(heap: Uint8Array, stackEnd: number, stackPointer: number): MemoryPart[] {
  const parts: { address: number; bytes: number }[] = [];
  for (let address = 0; address < heap.length; address += PART_BYTES) {
    const bytes = Math.min(PART_BYTES, heap.length - address);
    const isFree = address >= stackEnd && address + bytes <= stackPointer;
    if (isFree || heap.subarray(address, address + bytes).every((byte) => byte === 0)) continue;
    const last = parts.at(-1);
    if (last !== undefined && last.address + last.bytes === address) last.bytes += bytes;
    else parts.push({ address, bytes });
  }
  return parts;
}

function callOf(exports: Exports, name: string): Call {
  const value: unknown = exports[name];
  if (!isCall(value)) throw new TypeError(`Cannot find ${name} in the interpreter`);
  return value;
}

function isCall(value: unknown): value is Call {
  return typeof value === "function";
}
