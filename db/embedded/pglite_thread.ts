/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The thread of the embedded database: PGlite behind messages of PostgreSQL's protocol.
 *
 * It is started from its text (see pglite_server.ts), so it imports packages alone.
 */
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";
import type { FromPgliteThread, ToPgliteThread } from "./pglite_messages.ts";

let opened: Promise<PGlite> | undefined;
// Small enough that neither thread holds a long answer whole, large enough that few messages cross.
const PART_BYTES = 262_144;

const part = new Uint8Array(PART_BYTES);
let partLength = 0;
// One message at a time, in their order.
let working: Promise<unknown> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToPgliteThread>) => {
  working = working.then(() => handle(data)).catch((error) => post({ type: "failed", error }));
};

// The bits of a file's mode that say what the group and all others may.
const OTHERS = 0o077;

/** A folder whose files are their owner's alone: PGlite makes them for everybody, whatever the process's mask. */
class PrivateFiles extends NodeFS {
  override async init(...args: Parameters<NodeFS["init"]>) {
    const { emscriptenOpts, ...rest } = await super.init(...args);
    const preRun = [...emscriptenOpts.preRun ?? [], (module: object) => closeToOthers(Reflect.get(module, "NODEFS"))];
    return { ...rest, emscriptenOpts: { ...emscriptenOpts, preRun } };
  }
}

/** The parts of Emscripten's NODEFS that give a file its mode. */
interface NodeOperations {
  readonly node_ops: {
    mknod(parent: object, name: string, mode: number, device: number): object;
    setattr(node: object, attributes: { readonly mode?: number }): void;
  };
}

function closeToOthers({ node_ops: operations }: NodeOperations): void {
  const { mknod, setattr } = operations;
  operations.mknod = (parent, name, mode, device) => mknod(parent, name, mode & ~OTHERS, device);
  operations.setattr = (node, attributes) => {
    const { mode } = attributes;
    setattr(node, mode === undefined ? attributes : { ...attributes, mode: mode & ~OTHERS });
  };
}

// A new database says 128 MB, which the process would hold from its start on. The system keeps the files in its own memory, too, and
// imports and runs took no longer with 16 MB than with 32.
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB", "-c", "wal_buffers=4MB"];

function open({ folder, files }: Extract<ToPgliteThread, { type: "open" }>): Promise<PGlite> {
  if (folder.startsWith("memory://")) return PGlite.create(folder, { ...files, startParams });
  return PGlite.create({ ...files, startParams, fs: new PrivateFiles(folder) });
}

async function handle(message: ToPgliteThread): Promise<void> {
  if (message.type === "open") opened = open(message);
  const pglite = await opened;
  if (pglite === undefined) throw new Error("Cannot use the embedded database: it is not open");
  switch (message.type) {
    case "open":
      return post({ type: "opened" });
    case "data":
      // execProtocolRaw() would also parse each answer, and keep the parsed rows until the next exec().
      await pglite.execProtocolRawStream(message.data, { onRawData: (data) => write(message.connection, data) });
      return flush(message.connection);
    case "disconnect":
      // All connections share PGlite's one session: the next must find no transaction, lock or statement of the last.
      return void await pglite.exec("rollback; deallocate all; select pg_advisory_unlock_all()");
    case "close":
      await pglite.close();
      return post({ type: "closed" });
  }
}

/** @param data A view of PGlite's memory, which the next answer overwrites. */
function write(connection: number, data: Uint8Array): void {
  if (partLength + data.length > PART_BYTES) flush(connection);
  if (data.length > PART_BYTES) return send(connection, data.slice());
  part.set(data, partLength);
  partLength += data.length;
}

function flush(connection: number): void {
  if (partLength > 0) send(connection, part.slice(0, partLength));
  partLength = 0;
}

function send(connection: number, data: Uint8Array<ArrayBuffer>): void {
  post({ type: "data", connection, data }, [data.buffer]);
}

function post(message: FromPgliteThread, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}
