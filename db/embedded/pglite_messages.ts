import type { PgliteFiles } from "./pglite_files.ts";

/**
 * To the thread of the embedded database. `data` is for the connection of that number: messages of
 * PostgreSQL's protocol.
 */
export type ToPgliteThread =
  | { readonly type: "open"; readonly folder: string; readonly files: PgliteFiles }
  | { readonly type: "data"; readonly connection: number; readonly data: Uint8Array<ArrayBuffer> }
  | { readonly type: "disconnect" }
  | { readonly type: "close" };

export type FromPgliteThread =
  | { readonly type: "opened" }
  | { readonly type: "data"; readonly connection: number; readonly data: Uint8Array }
  | { readonly type: "failed"; readonly error: Error }
  | { readonly type: "closed" };
