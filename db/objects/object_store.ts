/** Bytes that live outside of the database: a row that has such bytes names their object, and its own column of bytes is empty. */
import { createHash } from "node:crypto";

/** A store of objects, each of which is written once under a key of its own. */
export interface ObjectStore {
  /** False where new rows keep their bytes, and objects are only read. */
  readonly takesNew: boolean;
  /** Writes an object. @returns Its key, which names its digest and its length. @throws {ObjectStoreError} */
  put(bytes: Uint8Array): Promise<string>;
  /** Reads an object and checks its digest. @throws {LostObject} @throws {ObjectStoreError} */
  get(key: string): Promise<Uint8Array>;
  /** Up to a thousand objects behind a point, in the order of their keys. @param after 64 hexadecimal digits or less. */
  list(after: string): Promise<readonly ListedObject[]>;
  /** Removes an object that no row names. */
  remove(key: string): Promise<void>;
  /** Writes a small object, always the same. @throws {ObjectStoreError} Where nothing can be written. */
  probe(): Promise<void>;
}

/** An object in the store. */
export interface ListedObject {
  readonly key: string;
  readonly writtenAt: Date;
}

/** The store cannot do now what it was asked for. The message has no secret. */
export class ObjectStoreError extends Error {
  override readonly name = "ObjectStoreError";

  /** @param isRefusal The store answered that it will not: the bucket or the credentials are wrong. */
  constructor(message: string, readonly isRefusal: boolean, cause?: unknown) {
    super(message, { cause });
  }
}

/** An object is gone or damaged. */
export class LostObject extends Error {
  override readonly name = "LostObject";

  constructor(key: string, why: string) {
    super(`the object ${key} ${why}`);
  }
}

/** A new key for bytes. No other object ever gets it, so that to remove one takes nothing from others with equal bytes. */
export function makeKey(prefix: string, bytes: Uint8Array): string {
  return `${prefix}/${digest(bytes)}.${bytes.byteLength}.${crypto.randomUUID().slice(0, 13)}`;
}

/** The digest and the length that a key names; undefined for a key that is none of ours. */
export function readKey(key: string): { readonly sha256: string; readonly bytes: number } | undefined {
  const match = /\/([0-9a-f]{64})\.(\d{1,10})\.[0-9a-f-]{13}$/.exec(key);
  return match === null ? undefined : { sha256: match[1]!, bytes: Number(match[2]) };
}

/** The SHA-256 of bytes, hexadecimal. */
export function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
