import { createServer, type IncomingMessage } from "node:http";
// @ts-types="@types/s3rver"
import S3rver from "s3rver";
import { freePort } from "./free_port.ts";
import { closedAfterTest } from "./left_open.ts";

const BUCKET = "hindcast";
/** Another bucket, without objects. */
export const EMPTY_BUCKET = "empty";

/** A real server with the S3 API, and a bucket in a temporary folder. */
export interface ObjectServer {
  /** The settings of a service that uses the bucket. */
  readonly environment: Readonly<Record<string, string>>;
  /** Ends every connection, and answers no more. */
  halt(): Promise<void>;
  /** Serves the same objects again. */
  start(): Promise<void>;
  /** Requests that are never answered, and do nothing. */
  withholds: (request: IncomingMessage) => boolean;
  /** Keys of the objects in the bucket, without the one of probes. */
  list(): Promise<string[]>;
  close(): Promise<void>;
}

/** Starts a server whose objects `close` removes. */
export async function startObjectServer(): Promise<ObjectServer> {
  const directory = await Deno.makeTempDir({ prefix: "hindcast-objects-" });
  const port = freePort();
  let halt = () => Promise.resolve();
  const start = async () => {
    const configureBuckets = [BUCKET, EMPTY_BUCKET].map((name) => ({ name, configs: [] }));
    const store = new S3rver({ silent: true, directory, configureBuckets });
    await store.configureBuckets();
    const answer = store.callback();
    const server = createServer((request, response) => {
      if (!opened.withholds(request)) answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
    halt = async () => {
      halt = () => Promise.resolve();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    };
  };
  const close = closedAfterTest(async () => {
    await halt();
    await Deno.remove(directory, { recursive: true });
  });
  const opened: ObjectServer = {
    environment: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_BUCKET: BUCKET,
      // The server knows this key alone.
      S3_ACCESS_KEY_ID: "S3RVER",
      S3_SECRET_ACCESS_KEY: "S3RVER",
    },
    halt: () => halt(),
    start,
    withholds: () => false,
    list: async () => await listKeys(`${directory}/${BUCKET}`),
    close,
  };
  await start();
  return opened;
}

/** The server keeps an object in a file, under its key and an ending of its own. */
async function listKeys(folder: string): Promise<string[]> {
  const keys: string[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    if (name.startsWith(".")) continue;
    for await (const file of Deno.readDir(`${folder}/${name}`)) {
      const key = /^(.*)\._S3rver_object$/.exec(file.name)?.[1];
      if (key !== undefined && key !== "probe") keys.push(`${name}/${key}`);
    }
  }
  return keys.sort();
}
