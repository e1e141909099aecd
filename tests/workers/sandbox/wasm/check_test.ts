import { expect } from "@std/expect";
import { MEMORY_IMPORT, PAGE_BYTES, ROOM_PAGES_MAX } from "../../../../workers/sandbox/contracts/abi.ts";
import { type CheckedModule, checkModule } from "../../../../workers/sandbox/wasm/check.ts";
import { ModuleFault } from "../../../../workers/sandbox/wasm/sections.ts";
import { compileWat, strategyWat } from "./modules.ts";

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
const MIB = 2 ** 20;

Deno.test("checkModule() accepts a module that follows the ABI, and caps its memory", () => {
  const checked = checkModule(compileWat(strategyWat({})));
  expect(checked.memoryBytesMin).toBe(2 * MIB);
  expect(checked.memoryBytesMax).toBe(256 * MIB);
  const { memory } = instantiate(checked);
  // 32 pages and 4,064 more make 256 MiB.
  expect(memory.grow(4064)).toBe(32);
  expect(() => memory.grow(1)).toThrow();
  // With room for a run's columns.
  expect(instantiate(checked, 4096 + ROOM_PAGES_MAX).memory.grow(0)).toBe(32);
  expect(() => instantiate(checked, 4096 + ROOM_PAGES_MAX + 1)).toThrow(WebAssembly.LinkError);
});

Deno.test("a declared maximum below the cap is kept", () => {
  const wat = strategyWat({}).replace('(memory (export "memory") 32)', '(memory (export "memory") 32 40)');
  const checked = checkModule(compileWat(wat));
  expect(checked.memoryBytesMax).toBe(40 * 65_536);
  expect(instantiate(checked).memory.grow(8)).toBe(32);
  expect(() => instantiate(checked, 40 + ROOM_PAGES_MAX + 1)).toThrow(WebAssembly.LinkError);
});

Deno.test("a maximum above the cap is lowered, and a table cannot grow beyond 10,000", () => {
  const wat = strategyWat({ after: '(table (export "table") 2 funcref)' })
    .replace('(memory (export "memory") 32)', '(memory (export "memory") 32 65536)');
  const { memory, table } = instantiate(checkModule(compileWat(wat)));
  expect(memory.grow(4064)).toBe(32);
  expect(() => memory.grow(1)).toThrow();
  expect(table?.grow(9998)).toBe(2);
  expect(() => table?.grow(1)).toThrow();
});

const exported = (count: number) => Array.from({ length: count }, (_, n) => `(func (export "f${n}"))`).join("\n");

const REFUSED: readonly (readonly [what: string, bytes: () => Uint8Array, reason: RegExp])[] = [
  ["an empty file", () => new Uint8Array(0), /it is empty/],
  ["a shell script", () => new TextEncoder().encode("#!/bin/sh\nrm -rf /"), /does not begin with the four bytes/],
  ["a header alone", () => Uint8Array.from(HEADER), /does not export the function abi_version/],
  ["half a header", () => Uint8Array.from(HEADER.slice(0, 6)), /not a core module of version 1/],
  ["a component", () => Uint8Array.from([...HEADER.slice(0, 4), 0x0d, 0x00, 0x01, 0x00]), /perhaps it is a component/],
  ["5 MiB", () => new Uint8Array(5 * MIB), /5242880 bytes: at most 4194304/],
  ["a module cut off in its middle", () => compileWat(strategyWat({})).slice(0, 60), /it is cut off/],
  ["a section longer than the file", () => Uint8Array.from([...HEADER, 1, 0xff, 0xff, 0x03, 0]), /it is cut off/],
  ["a number without end", () => Uint8Array.from([...HEADER, 1, 0xff, 0xff, 0xff, 0xff, 0xff]), /longer than 32 bits/],
  ["two type sections", () => Uint8Array.from([...HEADER, 1, 1, 0, 1, 1, 0]), /section 1 occurs twice/],
  [
    "two billion types",
    () => Uint8Array.from([...HEADER, 1, 5, 0xff, 0xff, 0xff, 0xff, 7]),
    /types: at most 10000/,
  ],
  ["a structure type", () => Uint8Array.from([...HEADER, 1, 2, 1, 0x5f]), /a type that is not a function's/],
  ["64 memories", () => compileWat(strategyWat({ after: "(memory 1)".repeat(63) })), /declares 64 memories/],
  ["a 64-bit memory", () => swapMemory('(memory (export "memory") i64 32)'), /64-bit addresses/],
  ["a shared memory", () => swapMemory('(memory (export "memory") 32 64 shared)'), /shared between threads/],
  ["a memory of 4 GiB", () => swapMemory('(memory (export "memory") 65536)'), /begins with 4096 MiB: at most 256/],
  ["no memory", () => compileWat(noMemory()), /does not export its memory|declares no memory/],
  ["a hidden memory", () => swapMemory("(memory 32)"), /does not export its memory under the name memory/],
  ["an imported memory", () => importing('(import "env" "memory" (memory 1))'), /env.memory, which is not a function/],
  ["a table bomb", () => compileWat(strategyWat({ after: "(table 10000000 funcref)" })), /table has 10000000 elements/],
  [
    "two tables",
    () => compileWat(strategyWat({ after: "(table 1 funcref) (table 1 funcref)" })),
    /2 tables: at most 1/,
  ],
  ["10,000 exports", () => compileWat(strategyWat({ after: exported(10_000) })), /10005 exports: at most 1000/],
  [
    "30,000 functions",
    () => compileWat(strategyWat({ after: "(func)".repeat(30_000) })),
    /30004 functions: at most 20000/,
  ],
  [
    "a WASI import",
    () => importing('(import "wasi_snapshot_preview1" "fd_write" (func))'),
    /imports wasi_snapshot_preview1.fd_write/,
  ],
  [
    "an unknown import of ours",
    () => importing('(import "env" "fetch" (func))'),
    /env.fetch: only env.abort, env.log, env.input, env.resample, env.zone, env.zone_offset, env.plot and env.draw are/,
  ],
  [
    "an import named like a property",
    () => importing('(import "env" "constructor" (func))'),
    /imports env.constructor/,
  ],
  [
    "log with another type",
    () => importing('(import "env" "log" (func (param f64)))'),
    /log as \(f64\) -> nothing: the type must be/,
  ],
  ["an imported global", () => importing('(import "env" "x" (global i32))'), /env.x, which is not a function/],
  ["no on_candle", () => renamed("on_candle", "onCandle"), /does not export the function on_candle, which must be/],
  ["no alloc", () => renamed("alloc", "malloc"), /does not export the function alloc/],
  ["a global as init", () => renamed("init", "x", '(global (export "init") i32 (i32.const 0))'), /init is a global/],
  [
    "init with two parameters",
    () => renamed("init", "x", two("init")),
    /init is \(i32, i32\) -> i32: it must be \(i32\)/,
  ],
];

for (const [what, bytes, reason] of REFUSED) {
  Deno.test(`a module is refused with the reason: ${what}`, () => {
    expect(reasonFor(bytes())).toMatch(reason);
  });
}

Deno.test("random bytes, and modules with random changes, are accepted or refused with a ModuleFault", () => {
  const whole = compileWat(
    strategyWat({ after: "(table 5 funcref)", before: '(import "env" "log" (func (param i32 i32)))' }),
  );
  let state = 99;
  const next = (below: number) => (state = state * 48_271 % 2_147_483_647) % below;
  let refused = 0;
  for (let round = 0; round < 20_000; round++) {
    const bytes = Uint8Array.from(whole.subarray(0, 8 + next(whole.length - 8)));
    const changes = next(4);
    for (let n = 0; n < changes; n++) bytes[8 + next(Math.max(1, bytes.length - 8))] = next(256);
    if (reasonFor(bytes) !== null) refused++;
  }
  expect(refused).toBeGreaterThan(15_000);
});

/** The reason why the bytes are refused; null when they are accepted. Any error but a ModuleFault fails the test. */
function reasonFor(bytes: Uint8Array): string | null {
  try {
    checkModule(bytes);
    return null;
  } catch (error) {
    if (error instanceof ModuleFault) return error.message;
    throw error;
  }
}

/** @param pagesMax Of the memory that the module gets. */
function instantiate(
  { bytes, memoryBytesMin, memoryBytesMax }: CheckedModule,
  pagesMax = memoryBytesMax / PAGE_BYTES,
): { memory: WebAssembly.Memory; table: WebAssembly.Table | null } {
  const own = new WebAssembly.Memory({ initial: memoryBytesMin / PAGE_BYTES, maximum: pagesMax });
  const imports = { [MEMORY_IMPORT.module]: { [MEMORY_IMPORT.name]: own } };
  const { memory, table } = new WebAssembly.Instance(new WebAssembly.Module(bytes), imports).exports;
  if (!(memory instanceof WebAssembly.Memory)) throw new Error("there is no memory");
  return { memory, table: table instanceof WebAssembly.Table ? table : null };
}

function swapMemory(memory: string): Uint8Array {
  return compileWat(
    strategyWat({ onCandle: "(return (i32.const 0)) (local.set $order (i32.const 0))" })
      .replace('(memory (export "memory") 32)', memory).replace(
        "(local.set $order (i32.load offset=56 (local.get $frame)))",
        "",
      ),
  );
}

function noMemory(): string {
  return strategyWat({}).replace('(memory (export "memory") 32)', "")
    .replace("(local.set $order (i32.load offset=56 (local.get $frame)))", "");
}

function importing(line: string): Uint8Array {
  const wat = line.includes("(memory") ? noMemory() : strategyWat({});
  return compileWat(wat.replace("(module", `(module ${line}`));
}

function renamed(from: string, to: string, after = ""): Uint8Array {
  return compileWat(strategyWat({ after }).replace(`(export "${from}")`, `(export "${to}")`));
}

function two(name: string): string {
  return `(func (export "${name}") (param i32 i32) (result i32) (i32.const 0))`;
}
