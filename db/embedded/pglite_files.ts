/** PGlite's program and the files of a new database, as `PGlite.create` takes them. */
export interface PgliteFiles {
  readonly pgliteWasmModule: WebAssembly.Module;
  readonly initdbWasmModule: WebAssembly.Module;
  readonly fsBundle: Blob;
}

let files: Promise<PgliteFiles> | null = null;

/**
 * Loads PGlite's files once per process.
 *
 * PGlite would read them from the package cache, which the service has no permission to read. Imports need none.
 */
export function loadPgliteFiles(): Promise<PgliteFiles> {
  return files ??= load();
}

async function load(): Promise<PgliteFiles> {
  const [pglite, initdb, bundle] = await Promise.all([
    import("@electric-sql/pglite/pglite.wasm", { with: { type: "bytes" } }),
    import("@electric-sql/pglite/initdb.wasm", { with: { type: "bytes" } }),
    import("@electric-sql/pglite/pglite.data", { with: { type: "bytes" } }),
  ]);
  const [pgliteWasmModule, initdbWasmModule] = await Promise.all([
    WebAssembly.compile(pglite.default),
    WebAssembly.compile(initdb.default),
  ]);
  return { pgliteWasmModule, initdbWasmModule, fsBundle: new Blob([bundle.default]) };
}
