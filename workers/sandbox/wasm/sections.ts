import { MODULE } from "../contracts/abi.ts";

/** The reason why a module cannot be used, as the end of "Cannot use the module: …". */
export class ModuleFault extends Error {
  override readonly name = "ModuleFault";
}

export interface Limits {
  readonly min: number;
  /** Null where none is declared. */
  readonly max: number | null;
}

/** A range of a module's bytes: offsets of the first byte and of the byte after the last. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

interface Import {
  readonly module: string;
  readonly name: string;
  readonly kind: string;
  /** Of a function, in words. */
  readonly type: string;
}

interface Export {
  readonly name: string;
  readonly kind: string;
  /** Of a function, in words. */
  readonly type: string;
}

/** The declarations of a module that has not been compiled. */
export interface ModuleShape {
  readonly imports: readonly Import[];
  readonly exports: readonly Export[];
  readonly memories: readonly Limits[];
  readonly tables: readonly Limits[];
  /** Offset of the byte after the section of types: a section of imports follows there. */
  readonly typesEnd: number;
  /** The whole section with its header; null if absent. */
  readonly importSection: Span | null;
  readonly importEntries: Span | null;
  /** The whole section with its header; null if absent. */
  readonly memorySection: Span | null;
  /** Each table's limits inside the table section, with their flag byte. */
  readonly tableLimits: readonly Span[];
  readonly tableSection: Span | null;
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d];
const CORE_VERSION = [0x01, 0x00, 0x00, 0x00];
const KINDS = ["function", "table", "memory", "global", "tag"];
const NUMBER_TYPES: Readonly<Record<number, string>> = {
  0x7f: "i32",
  0x7e: "i64",
  0x7d: "f32",
  0x7c: "f64",
  0x7b: "v128",
  0x70: "funcref",
  0x6f: "externref",
};
const FUNCTION_TYPE = 0x60;
const SECTION = { custom: 0, types: 1, imports: 2, functions: 3, tables: 4, memories: 5, exports: 7 } as const;
const LIMIT_FLAGS = { hasMax: 1, shared: 2, wide: 4 } as const;

/**
 * Reads the sections that declare a module's imports, exports, memory and tables, and no code.
 *
 * @throws {ModuleFault} When the bytes are not a module, or when it uses features that strategies may not use.
 */
export function readModuleShape(bytes: Uint8Array): ModuleShape {
  checkHeader(bytes);
  const shape = new ShapeReader();
  const reader = new ByteReader(bytes, MAGIC.length + CORE_VERSION.length);
  while (!reader.atEnd) {
    const begin = reader.offset;
    const id = reader.byte();
    const length = reader.u32();
    const section = reader.take(length);
    shape.read(id, section, { begin, end: reader.offset });
  }
  return shape;
}

function checkHeader(bytes: Uint8Array): void {
  if (bytes.length === 0) throw new ModuleFault("it is empty");
  if (bytes.length > MODULE.bytesMax) {
    throw new ModuleFault(`it has ${bytes.length} bytes: at most ${MODULE.bytesMax} (4 MiB) are allowed`);
  }
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) {
    throw new ModuleFault('it does not begin with the four bytes of a WebAssembly binary, "\\0asm"');
  }
  if (CORE_VERSION.some((byte, index) => bytes[MAGIC.length + index] !== byte)) {
    throw new ModuleFault("it is not a core module of version 1 (perhaps it is a component, or cut off)");
  }
}

class ShapeReader implements ModuleShape {
  readonly imports: Import[] = [];
  readonly exports: Export[] = [];
  readonly memories: Limits[] = [];
  readonly tables: Limits[] = [];
  readonly tableLimits: Span[] = [];
  typesEnd = MAGIC.length + CORE_VERSION.length;
  importSection: Span | null = null;
  importEntries: Span | null = null;
  memorySection: Span | null = null;
  tableSection: Span | null = null;
  readonly #types: string[] = [];
  /** The type of each function, imported ones first. */
  readonly #functionTypes: number[] = [];
  readonly #seen = new Set<number>();

  read(id: number, section: ByteReader, span: Span): void {
    if (id === SECTION.custom) return;
    if (this.#seen.has(id)) throw new ModuleFault(`its section ${id} occurs twice`);
    this.#seen.add(id);
    if (id === SECTION.types) {
      this.typesEnd = span.end;
      this.#readTypes(section);
    } else if (id === SECTION.imports) {
      this.importSection = span;
      this.#readImports(section);
    } else if (id === SECTION.functions) this.#readFunctions(section);
    else if (id === SECTION.tables) {
      this.tableSection = span;
      this.#readTables(section);
    } else if (id === SECTION.memories) {
      this.memorySection = span;
      const count = section.u32();
      if (count > 1) throw new ModuleFault(`it declares ${count} memories: it must have one`);
      for (let n = 0; n < count; n++) this.memories.push(readLimits(section, "memory"));
    } else if (id === SECTION.exports) this.#readExports(section);
    else return;
    if (!section.atEnd) throw new ModuleFault(`its section ${id} is longer than its entries`);
  }

  #readTypes(section: ByteReader): void {
    const count = section.count("types", MODULE.typesMax);
    for (let n = 0; n < count; n++) {
      if (section.byte() !== FUNCTION_TYPE) {
        throw new ModuleFault("it declares a type that is not a function's (garbage collection is not supported)");
      }
      const parameters = this.#readValueTypes(section).join(", ");
      const results = this.#readValueTypes(section).join(", ");
      this.#types.push(`(${parameters}) -> ${results === "" ? "nothing" : results}`);
    }
  }

  #readValueTypes(section: ByteReader): string[] {
    const count = section.count("values in a type", 1000);
    return Array.from({ length: count }, () => {
      const type = NUMBER_TYPES[section.byte()];
      if (type === undefined) {
        throw new ModuleFault("one of its functions has a parameter or result of an unknown type");
      }
      return type;
    });
  }

  #readImports(section: ByteReader): void {
    const count = section.count("imports", MODULE.importsMax);
    const begin = section.offset;
    for (let n = 0; n < count; n++) {
      const module = section.name();
      const name = section.name();
      const kind = KINDS[section.byte()];
      if (kind !== "function") {
        throw new ModuleFault(`it imports ${module}.${name}, which is not a function: only functions can be imported`);
      }
      const type = section.u32();
      this.#functionTypes.push(type);
      this.imports.push({ module, name, kind, type: this.#types[type] ?? "unknown" });
    }
    this.importEntries = { begin, end: section.offset };
  }

  #readFunctions(section: ByteReader): void {
    const count = section.count("functions", MODULE.functionsMax);
    for (let n = 0; n < count; n++) this.#functionTypes.push(section.u32());
  }

  #readTables(section: ByteReader): void {
    const count = section.count("tables", MODULE.tablesMax);
    for (let n = 0; n < count; n++) {
      if (NUMBER_TYPES[section.byte()] === undefined) throw new ModuleFault("its table is of an unknown type");
      const begin = section.offset;
      this.tables.push(readLimits(section, "table"));
      this.tableLimits.push({ begin, end: section.offset });
    }
  }

  #readExports(section: ByteReader): void {
    const count = section.count("exports", MODULE.exportsMax);
    for (let n = 0; n < count; n++) {
      const name = section.name();
      const kind = KINDS[section.byte()] ?? "unknown";
      const index = section.u32();
      const type = kind === "function" ? this.#types[this.#functionTypes[index] ?? -1] ?? "unknown" : "";
      this.exports.push({ name, kind, type });
    }
  }
}

function readLimits(section: ByteReader, what: "memory" | "table"): Limits {
  const flags = section.byte();
  if ((flags & LIMIT_FLAGS.wide) !== 0) throw new ModuleFault(`its ${what} has 64-bit addresses (memory64)`);
  if ((flags & LIMIT_FLAGS.shared) !== 0) throw new ModuleFault(`its ${what} is shared between threads`);
  if (flags > LIMIT_FLAGS.hasMax) throw new ModuleFault(`its ${what} has limits of an unknown kind (${flags})`);
  const min = section.u32();
  return { min, max: (flags & LIMIT_FLAGS.hasMax) === 0 ? null : section.u32() };
}

const UNEXPECTED_END = "it is cut off";

/** Reads bytes from front to back; reading past the end throws a ModuleFault. */
class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;

  constructor(bytes: Uint8Array, public offset: number, end = bytes.length) {
    this.#bytes = bytes;
    this.#end = end;
  }

  get atEnd(): boolean {
    return this.offset >= this.#end;
  }

  byte(): number {
    if (this.atEnd) throw new ModuleFault(UNEXPECTED_END);
    return this.#bytes[this.offset++]!;
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  u32(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) {
        if (value > 0xffff_ffff) break;
        return value;
      }
    }
    throw new ModuleFault("one of its numbers is longer than 32 bits");
  }

  /** The number of entries that follow. */
  count(what: string, max: number): number {
    const count = this.u32();
    if (count > max) throw new ModuleFault(`it has ${count} ${what}: at most ${max} are allowed`);
    return count;
  }

  name(): string {
    const length = this.u32();
    if (length > MODULE.nameBytesMax) {
      throw new ModuleFault(`one of its names has ${length} bytes: at most ${MODULE.nameBytesMax} are allowed`);
    }
    const { offset } = this.take(length);
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(this.#bytes.subarray(offset, offset + length));
    } catch {
      throw new ModuleFault("one of its names is not UTF-8");
    }
  }

  /** A reader of the next bytes; this reader continues after them. */
  take(length: number): ByteReader {
    if (length > this.#end - this.offset) throw new ModuleFault(UNEXPECTED_END);
    const part = new ByteReader(this.#bytes, this.offset, this.offset + length);
    this.offset += length;
    return part;
  }
}
