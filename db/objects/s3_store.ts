/** A bucket of a server with the S3 API (https://docs.aws.amazon.com/AmazonS3/latest/API/), whose address names the bucket in its path. */
import { AwsClient } from "aws4fetch";
import { LRUCache } from "lru-cache";
import {
  digest,
  type ListedObject,
  LostObject,
  makeKey,
  type ObjectStore,
  ObjectStoreError,
  readKey,
} from "./object_store.ts";

/** A bucket, and who may use it. */
export interface BucketAddress {
  /** The server's origin. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** See ObjectStore. */
  readonly takesNew: boolean;
}

// Candles are read and written in transactions, which PostgreSQL ends when they are idle for ten seconds: two attempts take less.
const REQUEST_MS_MAX = 4_000;
const ATTEMPTS = 2;
// The parts of a short run are one object, and are asked for one after the other.
const CACHED_BYTES_MAX = 32 << 20;
// Lists and refusals; a list has a thousand keys.
const TEXT_BYTES_MAX = 4 << 20;
const PROBE = new TextEncoder().encode("Hindcast writes here.\n");

/** The key of the object by which a database knows its bucket. */
export function markOf(prefix: string): string {
  return `${prefix}/probe`;
}

/** Opens a bucket. @param prefix Before all keys: another database in the same bucket has another one. */
export class S3Store implements ObjectStore {
  readonly takesNew: boolean;
  readonly #client: AwsClient;
  readonly #url: string;
  readonly #prefix: string;
  readonly #cache = new LRUCache<string, Uint8Array>({
    maxSize: CACHED_BYTES_MAX,
    sizeCalculation: (bytes) => bytes.byteLength || 1,
    fetchMethod: (key) => this.#read(key),
  });

  constructor({ endpoint, bucket, region, accessKeyId, secretAccessKey, takesNew }: BucketAddress, prefix: string) {
    this.takesNew = takesNew;
    this.#client = new AwsClient({ accessKeyId, secretAccessKey, region, service: "s3", retries: 0 });
    this.#url = `${endpoint}/${bucket}`;
    this.#prefix = prefix;
  }

  async put(bytes: Uint8Array): Promise<string> {
    const key = makeKey(this.#prefix, bytes);
    await this.#write(key, bytes);
    return key;
  }

  async get(key: string): Promise<Uint8Array> {
    const bytes = await this.#cache.fetch(key);
    if (bytes === undefined) throw new LostObject(key, "is not read");
    // A reader may transfer its own to another thread.
    return bytes.slice();
  }

  async list(after: string): Promise<readonly ListedObject[]> {
    const query = new URLSearchParams({
      "list-type": "2",
      prefix: `${this.#prefix}/`,
      "start-after": `${this.#prefix}/${after}`,
      "max-keys": "1000",
    });
    const text = await this.#ask(`?${query}`, {}, readText);
    return [...text.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, entry = ""]) => {
      const [key, writtenAt] = [elementOf(entry, "Key"), new Date(elementOf(entry, "LastModified"))];
      return readKey(key) === undefined || Number.isNaN(writtenAt.getTime()) ? [] : [{ key, writtenAt }];
    });
  }

  async remove(key: string): Promise<void> {
    await this.#ask(`/${key}`, { method: "DELETE" }, readText);
    this.#cache.delete(key);
  }

  async probe(): Promise<void> {
    await this.#write(this.mark, PROBE);
  }

  /** The key of the object that probe() writes. */
  get mark(): string {
    return markOf(this.#prefix);
  }

  /** True if an object has this key. By a list, which tells a missing bucket from a missing object. */
  async has(key: string): Promise<boolean> {
    const query = new URLSearchParams({ "list-type": "2", prefix: key, "max-keys": "1" });
    return elementOf(await this.#ask(`?${query}`, {}, readText), "Key") === key;
  }

  async #write(key: string, bytes: Uint8Array): Promise<void> {
    const headers = { "x-amz-content-sha256": digest(bytes), "content-type": "application/octet-stream" };
    await this.#ask(`/${key}`, { method: "PUT", body: Uint8Array.from(bytes), headers }, readText);
  }

  async #read(key: string): Promise<Uint8Array> {
    const named = readKey(key);
    if (named === undefined) throw new LostObject(key, "has a key of another version");
    const bytes = await this.#ask(`/${key}`, {}, (answer) => readBytes(answer, named.bytes));
    if (bytes === null) throw new LostObject(key, "is not in the bucket");
    if (digest(bytes) !== named.sha256) throw new LostObject(key, "is damaged");
    return bytes;
  }

  /** Sends a request until it is answered, a few times. @param read Takes an answer that is none of a failure. */
  async #ask<Value>(path: string, init: RequestInit, read: (answer: Response) => Promise<Value>): Promise<Value> {
    for (let attempt = 1;; attempt++) {
      try {
        const signal = AbortSignal.timeout(REQUEST_MS_MAX);
        const request = await this.#client.sign(`${this.#url}${path}`, init);
        const answer = await fetch(request, { signal, redirect: "manual" });
        const isMissing = answer.status === 404 && init.method === undefined && !path.startsWith("?");
        if (answer.ok || isMissing) return await read(answer);
        throw refusal(answer.status, elementOf(await readText(answer), "Code"));
      } catch (error) {
        const fault = error instanceof ObjectStoreError ? error : unreachable(error);
        if (fault.isRefusal || attempt === ATTEMPTS) throw fault;
      }
    }
  }
}

function refusal(status: number, code: string): ObjectStoreError {
  const isRefusal = status < 500 && status !== 429 && status !== 408;
  return new ObjectStoreError(`the object store answered ${status} ${code}`.trimEnd(), isRefusal);
}

function unreachable(cause: unknown): ObjectStoreError {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ObjectStoreError(`the object store does not answer: ${why}`, false, cause);
}

/** The text of an element, which holds no others. Keys and codes have no characters that XML escapes. */
function elementOf(xml: string, name: string): string {
  return new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? "";
}

async function readText(answer: Response): Promise<string> {
  return new TextDecoder().decode(await collect(answer, TEXT_BYTES_MAX));
}

/** The body of an answer, which has so many bytes; null where the object is missing. */
async function readBytes(answer: Response, length: number): Promise<Uint8Array | null> {
  if (answer.status === 404) {
    const code = elementOf(await readText(answer), "Code");
    if (code === "NoSuchBucket") throw refusal(404, code);
    return null;
  }
  const bytes = await collect(answer, length);
  if (bytes.byteLength < length) throw new Error(`the body ended after ${bytes.byteLength} of ${length} bytes`);
  return bytes;
}

/** A body of at most so many bytes; a longer one is not read to its end. */
async function collect({ headers, body }: Response, bytesMax: number): Promise<Uint8Array> {
  const tooLong = () => new Error(`the body has more than ${bytesMax} bytes`);
  if (Number(headers.get("content-length") ?? 0) > bytesMax) {
    await body?.cancel();
    throw tooLong();
  }
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    length += piece.byteLength;
    if (length > bytesMax) throw tooLong();
    pieces.push(piece);
  }
  return await new Blob(pieces).bytes();
}
