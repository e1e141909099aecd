import {
  EXPORTED_FUNCTIONS,
  IMPORT_MODULE,
  IMPORTED_FUNCTIONS,
  MEMORY_EXPORT,
  MEMORY_IMPORT,
  MODULE,
  PAGE_BYTES,
  ROOM_PAGES_MAX,
} from "../contracts/abi.ts";
import { type Limits, ModuleFault, type ModuleShape, readModuleShape, type Span } from "./sections.ts";

/** A module whose declarations follow strategies/ABI.md. */
export interface CheckedModule {
  /**
   * The bytes to compile: maxima of memory and table that were absent or too high are lowered to the limits, and the memory is an
   * import, so that it can have room for a run's columns, and belong to another instance later.
   */
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly memoryBytesMin: number;
  readonly memoryBytesMax: number;
  /** True if it decides on many markets at once. */
  readonly decidesOnMarkets: boolean;
}

const MIB = 2 ** 20;
const KNOWN_IMPORTS = Object.keys(IMPORTED_FUNCTIONS).map((name) => `${IMPORT_MODULE}.${name}`).join(", ")
  .replace(/, ([^,]+)$/, " and $1");
const IMPORT_SECTION_ID = 2;
const MEMORY_KIND = 2;
const TABLE_SECTION_ID = 4;

/**
 * Checks a module's declarations without compiling it: size, imports, exports and their types, one memory, no large table.
 *
 * @throws {ModuleFault} With the reason.
 */
export function checkModule(bytes: Uint8Array): CheckedModule {
  const shape = readModuleShape(bytes);
  checkImports(shape);
  checkExports(shape);
  const memory = checkMemory(shape);
  for (const table of shape.tables) checkTable(table);
  return {
    bytes: rewrite(bytes, shape, memory),
    memoryBytesMin: memory.min * PAGE_BYTES,
    memoryBytesMax: capOf(memory, MODULE.memoryPagesMax) * PAGE_BYTES,
    decidesOnMarkets: shape.exports.some(({ name }) => name === "on_markets"),
  };
}

function checkImports({ imports }: ModuleShape): void {
  for (const { module, name, type } of imports) {
    const types = module === IMPORT_MODULE && Object.hasOwn(IMPORTED_FUNCTIONS, name)
      ? IMPORTED_FUNCTIONS[name]
      : undefined;
    if (types === undefined) {
      throw new ModuleFault(`it imports ${module}.${name}: only ${KNOWN_IMPORTS} are provided`);
    }
    if (!types.includes(type)) {
      throw new ModuleFault(`it imports ${module}.${name} as ${type}: the type must be ${types.join(" or ")}`);
    }
  }
}

function checkExports({ exports }: ModuleShape): void {
  const byName = new Map(exports.map((one) => [one.name, one]));
  for (const [name, { type, required }] of Object.entries(EXPORTED_FUNCTIONS)) {
    const found = byName.get(name);
    if (found === undefined) {
      if (required) throw new ModuleFault(`it does not export the function ${name}, which must be ${type}`);
    } else if (found.kind !== "function") {
      throw new ModuleFault(`its export ${name} is a ${found.kind}: it must be a function`);
    } else if (found.type !== type) {
      throw new ModuleFault(`its function ${name} is ${found.type}: it must be ${type}`);
    }
  }
  if (byName.get(MEMORY_EXPORT)?.kind !== "memory") {
    throw new ModuleFault(`it does not export its memory under the name ${MEMORY_EXPORT}`);
  }
}

function checkMemory({ memories }: ModuleShape): Limits {
  const [memory] = memories;
  if (memory === undefined) throw new ModuleFault("it declares no memory: it must have one");
  if (memory.min > MODULE.memoryPagesMax) {
    const asked = memory.min * PAGE_BYTES / MIB;
    throw new ModuleFault(
      `its memory begins with ${asked} MiB: at most ${MODULE.memoryPagesMax * PAGE_BYTES / MIB} MiB are allowed`,
    );
  }
  return memory;
}

function checkTable({ min }: Limits): void {
  if (min > MODULE.tableElementsMax) {
    throw new ModuleFault(`its table has ${min} elements: at most ${MODULE.tableElementsMax} are allowed`);
  }
}

function capOf({ max }: Limits, cap: number): number {
  return max === null ? cap : Math.min(max, cap);
}

/**
 * The same module with a maximum for its memory and its table, and with the memory as an import. The reference type before a table's
 * limits stays.
 */
function rewrite(bytes: Uint8Array, shape: ModuleShape, memory: Limits): Uint8Array<ArrayBuffer> {
  const { memorySection, tableSection, tables, tableLimits } = shape;
  const edits: { readonly span: Span; readonly bytes: readonly number[] }[] = [];
  const [table] = tables;
  const [limits] = tableLimits;
  if (tableSection !== null && table !== undefined && limits !== undefined) {
    const content = [1, bytes[limits.begin - 1]!, ...writeLimits(table.min, capOf(table, MODULE.tableElementsMax))];
    edits.push({ span: tableSection, bytes: writeSection(TABLE_SECTION_ID, content) });
  }
  if (memorySection !== null) edits.push({ span: memorySection, bytes: [] });
  const { imports, importEntries, importSection, typesEnd } = shape;
  const entries = importEntries === null ? [] : bytes.subarray(importEntries.begin, importEntries.end);
  const limit = writeLimits(memory.min, capOf(memory, MODULE.memoryPagesMax) + ROOM_PAGES_MAX);
  const entry = [...writeName(MEMORY_IMPORT.module), ...writeName(MEMORY_IMPORT.name), MEMORY_KIND, ...limit];
  edits.push({
    span: importSection ?? { begin: typesEnd, end: typesEnd },
    bytes: writeSection(IMPORT_SECTION_ID, [...writeU32(imports.length + 1), ...entries, ...entry]),
  });
  return replaceSpans(bytes, edits.sort((a, b) => a.span.begin - b.span.begin));
}

function writeSection(id: number, content: readonly number[]): number[] {
  return [id, ...writeU32(content.length), ...content];
}

function writeName(name: string): number[] {
  const bytes = new TextEncoder().encode(name);
  return [...writeU32(bytes.length), ...bytes];
}

function writeLimits(min: number, max: number): number[] {
  return [1, ...writeU32(min), ...writeU32(max)];
}

function writeU32(value: number): number[] {
  return value < 0x80 ? [value] : [value % 0x80 + 0x80, ...writeU32(Math.floor(value / 0x80))];
}

function replaceSpans(
  bytes: Uint8Array,
  edits: readonly { readonly span: Span; readonly bytes: readonly number[] }[],
): Uint8Array<ArrayBuffer> {
  const pieces: Uint8Array[] = [];
  let from = 0;
  for (const { span, bytes: written } of edits) {
    pieces.push(bytes.subarray(from, span.begin), Uint8Array.from(written));
    from = span.end;
  }
  pieces.push(bytes.subarray(from));
  const whole = new Uint8Array(pieces.reduce((total, piece) => total + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
