/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/**
 * The thread of the embedded database: PGlite behind messages of PostgreSQL's protocol.
 *
 * It is started from its text (see pglite_server.ts), so it imports packages alone.
 */
import { PGlite } from "@electric-sql/pglite";
import type { FromPgliteThread, ToPgliteThread } from "./pglite_messages.ts";

let opened: Promise<PGlite> | undefined;
// One message at a time, in their order.
let working: Promise<unknown> = Promise.resolve();

self.onmessage = ({ data }: MessageEvent<ToPgliteThread>) => {
  working = working.then(() => handle(data)).catch((error) => post({ type: "failed", error }));
};

async function handle(message: ToPgliteThread): Promise<void> {
  if (message.type === "open") opened = PGlite.create(message.folder, message.files);
  const pglite = await opened;
  if (pglite === undefined) throw new Error("Cannot use the embedded database: it is not open");
  switch (message.type) {
    case "open":
      return post({ type: "opened" });
    case "data": {
      const data = (await pglite.execProtocolRaw(message.data)).slice();
      return post({ type: "data", connection: message.connection, data }, [data.buffer]);
    }
    case "disconnect":
      // All connections share PGlite's one session: the next must find no transaction, lock or statement of the last.
      return void await pglite.exec("rollback; deallocate all; select pg_advisory_unlock_all()");
    case "close":
      await pglite.close();
      return post({ type: "closed" });
  }
}

function post(message: FromPgliteThread, transfer: Transferable[] = []): void {
  self.postMessage(message, transfer);
}
