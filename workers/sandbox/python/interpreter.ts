import { takeInterrupt } from "../decision_calls.ts";
import type { FrozenInterpreter, InterpreterCode, InterpreterFacts, MemoryPart } from "../interpreter_files.ts";

/** Bytes of an interpreter's memory: a strategy that wants more gets a MemoryError. */
export const INTERPRETER_BYTES_MAX = 256 * 2 ** 20;
const PAGE_BYTES = 65_536;
/** In the numbers of WASI. */
const EPERM = 63;
/** Raises a KeyboardInterrupt. */
const SIGINT = 2;

type Call = (...args: readonly number[]) => number;

/** The interpreter asked its host for something that no strategy has, and cannot go on. */
export class ClosedDoorError extends Error {
  override readonly name = "ClosedDoorError";
}

/**
 * CPython in WebAssembly, resumed from a memory in which it waits.
 *
 * Nothing of pyodide's JavaScript runs here. The interpreter has its memory and the functions of `makeImports`, which give it no time,
 * chance, file, network or object of JavaScript; so all that it is lies in its memory, and `reset` undoes everything.
 */
export class Interpreter {
  readonly heap: Uint8Array<ArrayBuffer>;
  readonly words: Int32Array<ArrayBuffer>;
  readonly doubles: Float64Array<ArrayBuffer>;
  readonly #facts: InterpreterFacts;
  readonly #exports: WebAssembly.Exports;
  /** The memory to which `reset` goes back. */
  #kept: readonly (MemoryPart & { readonly from: Uint8Array<ArrayBuffer> })[];
  #keptEnd: number;
  readonly #calls: Record<"vectorcall" | "integer" | "release" | "takeError" | "allocate" | "free" | "moveBreak", Call>;

  constructor({ facts, program, image }: InterpreterCode) {
    this.#facts = facts;
    this.#exports = new WebAssembly.Instance(program, makeImports(program)).exports;
    const { memory, __indirect_function_table: table } = this.#exports;
    if (!(memory instanceof WebAssembly.Memory) || !(table instanceof WebAssembly.Table)) {
      throw new TypeError("Cannot find the interpreter's memory");
    }
    // All at once, since its views end when it grows. Pages that nobody touches take no room.
    memory.grow((INTERPRETER_BYTES_MAX - memory.buffer.byteLength) / PAGE_BYTES);
    const buffer = memory.buffer;
    if (!(buffer instanceof ArrayBuffer)) throw new TypeError("Cannot use a shared memory");
    this.heap = new Uint8Array(buffer);
    this.words = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
    addTrampoline(facts, memory, table);
    this.#calls = {
      vectorcall: this.#find("PyObject_Vectorcall"),
      integer: this.#find("PyLong_FromLong"),
      release: this.#find("Py_DecRef"),
      takeError: this.#find("PyErr_GetRaisedException"),
      allocate: this.#find("malloc"),
      free: this.#find("free"),
      moveBreak: this.#find("sbrk"),
    };
    this.#keptEnd = facts.memoryEnd;
    let at = 0;
    this.#kept = facts.parts.map((part) => ({ ...part, from: image.subarray(at, at += part.bytes) }));
    // A new instance has some of it already.
    this.heap.fill(0, 0, facts.memoryEnd);
    this.#restore();
    this.#listenToInterrupts();
  }

  /** Has the interpreter ask for interrupts every few steps; what it keeps has this, too. */
  #listenToInterrupts(): void {
    const { Py_EMSCRIPTEN_SIGNAL_HANDLING: address } = this.#exports;
    if (address instanceof WebAssembly.Global) this.words[address.value >> 2] = 1;
  }

  /** From here on, `reset` goes back to this moment. No object that is made later survives it. */
  keep(): void {
    const { stackEnd, stackPointer } = this.#facts;
    const end = this.#calls.moveBreak(0);
    const parts = [{ address: 0, bytes: stackEnd }, { address: stackPointer, bytes: end - stackPointer }];
    this.#kept = parts.map((part) => ({ ...part, from: this.heap.slice(part.address, part.address + part.bytes) }));
    this.#keptEnd = end;
  }

  /** Undoes everything since `keep`. */
  reset(): void {
    this.heap.fill(0, this.#keptEnd, this.#calls.moveBreak(0));
    this.#restore();
  }

  #restore(): void {
    for (const { address, from } of this.#kept) this.heap.set(from, address);
    const { __stack_pointer: stackPointer } = this.#exports;
    if (stackPointer instanceof WebAssembly.Global) stackPointer.value = this.#facts.stackPointer;
  }

  /** The tuple of the functions and buffers that our lines in Python give the host, by their place in MACHINE. */
  get firstMachine(): number {
    return this.#facts.machine;
  }

  /** A member of a tuple, which owns it. */
  item(tuple: number, place: number): number {
    return this.#find("PyTuple_GetItem")(tuple, place);
  }

  /** A member of a list, which owns it. */
  listItem(list: number, place: number): number {
    return this.#find("PyList_GetItem")(list, place);
  }

  /**
   * Calls an object of Python.
   *
   * @param count Of the arguments, and whether the place before them may be used.
   * @returns The answer, which is the caller's; 0 after an error, which `takeError` returns.
   */
  vectorcall(callee: number, args: number, count: number): number {
    return this.#calls.vectorcall(callee, args, count, 0);
  }

  /** Calls a function with a few objects, which stay the caller's. */
  call(callee: number, ...args: readonly number[]): number {
    const at = this.#calls.allocate(4 * Math.max(1, args.length));
    args.forEach((argument, n) => this.words[(at >> 2) + n] = argument);
    const answer = this.vectorcall(callee, at, args.length);
    this.#calls.free(at);
    return answer;
  }

  integer(value: number): number {
    return this.#calls.integer(value);
  }

  double(value: number): number {
    return this.#find("PyFloat_FromDouble")(value);
  }

  /** A text of Python. @returns 0 when there is no memory for it. */
  text(text: string): number {
    const bytes = new TextEncoder().encode(text);
    const at = this.allocate(bytes.length);
    if (at === 0) return 0;
    this.heap.set(bytes, at);
    const made = this.#find("PyUnicode_FromStringAndSize")(at, bytes.length);
    this.#calls.free(at);
    return made;
  }

  /** A text of at most `bytesMax` bytes; null for anything else. */
  readText(object: number, bytesMax: number): string | null {
    const lengthAt = this.allocate(4);
    const at = lengthAt === 0 ? 0 : this.#find("PyUnicode_AsUTF8AndSize")(object, lengthAt);
    const length = this.words[lengthAt >> 2] ?? 0;
    this.#calls.free(lengthAt);
    if (at === 0) this.release(this.takeError());
    const isWithin = at > 0 && length >= 0 && length <= bytesMax && at + length <= this.heap.length;
    return isWithin ? new TextDecoder().decode(this.heap.subarray(at, at + length)) : null;
  }

  /** The address of a buffer's first byte; 0: it is none, or of another length. */
  addressOf(object: number, bytesMin: number): number {
    // `Py_buffer` begins with its address, its owner and its length.
    const at = this.allocate(64);
    if (at === 0) return 0;
    const isBuffer = this.#find("PyObject_GetBuffer")(object, at, 0) === 0;
    const [address = 0, length = 0] = isBuffer ? [this.words[at >> 2], this.words[(at >> 2) + 2]] : [];
    if (isBuffer) this.#find("PyBuffer_Release")(at);
    else this.release(this.takeError());
    this.#calls.free(at);
    const fits = address > 0 && length >= bytesMin && address + length <= this.heap.length;
    return fits ? address : 0;
  }

  /** Python's None, which nobody has to give up. */
  none(): number {
    return this.#find("Py_GetConstantBorrowed")(0);
  }

  allocate(bytes: number): number {
    return this.#calls.allocate(Math.max(1, bytes));
  }

  takeError(): number {
    return this.#calls.takeError();
  }

  /** Gives an object up. */
  release(object: number): void {
    if (object !== 0) this.#calls.release(object);
  }

  #find(name: string): Call {
    const value: unknown = this.#exports[name];
    if (!isCall(value)) throw new TypeError(`Cannot find ${name} in the interpreter`);
    return value;
  }
}

/** Resumes an interpreter in this thread. */
export function resume({ program, ...frozen }: FrozenInterpreter): Interpreter {
  return new Interpreter({ ...frozen, program: new WebAssembly.Module(program) });
}

function isCall(value: unknown): value is Call {
  return typeof value === "function";
}

/** The one function that pyodide adds to the interpreter's table and that the interpreter calls. */
function addTrampoline(
  { trampoline: { program, index } }: InterpreterFacts,
  memory: WebAssembly.Memory,
  table: WebAssembly.Table,
): void {
  const module = new WebAssembly.Module(Uint8Array.fromHex(program));
  const { exports } = new WebAssembly.Instance(module, { env: { memory, __indirect_function_table: table } });
  const { trampoline_call: call = null } = exports;
  table.grow(index + 1 - table.length);
  if (typeof call === "function") table.set(index, call);
}

/** Everything that the interpreter may call. All else ends it. */
function makeImports(program: WebAssembly.Module): WebAssembly.Imports {
  const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {};
  for (const { module, name, kind } of WebAssembly.Module.imports(program)) {
    const names = imports[module] ??= {};
    // Addresses of functions of graphics, which are in no strategy's reach.
    if (kind === "global") names[name] = new WebAssembly.Global({ value: "i32", mutable: true }, 0);
    else names[name] = ANSWERS[name] ?? (/^(__syscall_|fd_)/.test(name) ? () => refusal(name) : () => close(name));
  }
  return imports;
}

/** Answers to questions that the interpreter itself asks. There is no clock: its own statistics do without. */
const ANSWERS: Readonly<Record<string, () => number | undefined>> = {
  _Py_CheckEmscriptenSignals_Helper: () => takeInterrupt() ? SIGINT : 0,
  emscripten_get_heap_max: () => INTERPRETER_BYTES_MAX,
  // It has all that it will get.
  emscripten_resize_heap: () => 0,
  emscripten_get_now: () => 0,
  emscripten_date_now: () => 0,
  clock_time_get: () => EPERM,
  clock_res_get: () => EPERM,
  random_get: () => EPERM,
};

/** An error of the operating system, as each kind of call gives it. */
function refusal(name: string): number {
  return name.startsWith("fd_") ? EPERM : -EPERM;
}

function close(name: string): never {
  throw new ClosedDoorError(`it called ${name}, which is not there`);
}
