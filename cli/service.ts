import { denoArguments } from "./commands.ts";

const ROOT = new URL("..", import.meta.url);

/** A service that was started for one command. */
export interface Service {
  readonly url: string;
  readonly ingestionSecret: string;
  stop(): Promise<void>;
}

/**
 * Starts the service in a process of its own, on a free port.
 *
 * @param kept Its data directory, which stays; default: a temporary one, which is removed at the end.
 * @throws Error with the process's messages when it does not start.
 */
export async function startService(kept?: string): Promise<Service> {
  const folder = kept ?? await Deno.makeTempDir({ prefix: "hindcast-demo-" });
  const ingestionSecret = crypto.randomUUID();
  const process = new Deno.Command(Deno.execPath(), {
    args: denoArguments("start", folder),
    cwd: ROOT,
    env: {
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: folder,
      DATABASE_URL: "",
      S3_ENDPOINT: "",
      S3_BUCKET: "",
      S3_ACCESS_KEY_ID: "",
      S3_SECRET_ACCESS_KEY: "",
      S3_NEW_BYTES: "",
      BASE_URL: "",
      INGESTION_ADMIN_SECRET: ingestionSecret,
      // A command needs a worker to finish its backtest.
      WORKERS: "",
      LOG_LEVEL: "warning",
    },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(process.stderr).text();
  const stop = async () => {
    try {
      // SIGTERM would let it serve on for a while.
      process.kill("SIGINT");
    } catch {
      // It has ended already.
    }
    await process.status;
    if (kept === undefined) await Deno.remove(folder, { recursive: true });
  };
  const url = await findUrl(process.stdout);
  if (url !== null) return { url, ingestionSecret, stop };
  await stop();
  throw new Error(`Cannot start the service:\n${await errors}`);
}

/** Finds the address in the first lines that the service prints. It reads on, so that the service never blocks on a full pipe. */
async function findUrl(output: ReadableStream<Uint8Array>): Promise<string | null> {
  let seen = "";
  const decoder = new TextDecoder();
  const reader = output.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return null;
    seen += decoder.decode(value, { stream: true });
    const url = /http:\/\/\S+:\d+(?=\s)/.exec(seen)?.[0];
    if (url === undefined) continue;
    void drain(reader);
    return url;
  }
}

async function drain(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  while (!(await reader.read()).done);
}
