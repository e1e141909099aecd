import type { TestClient } from "../support/client.ts";
import { listDescendants, untilGone } from "../support/processes.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";

/** The environment of a cluster's processes; API processes do not compute. */
export function clusterEnvironment(databaseUrl: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    USER_BACKTESTS_MAX: "1000000",
    WORKERS: "0",
  };
}

/** Processes of main.ts on one database, which a scenario ends and starts. */
export class Cluster {
  readonly apis: RunningProcess[] = [];
  readonly workers: RunningProcess[] = [];
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(environment: Readonly<Record<string, string>>) {
    this.#environment = environment;
  }

  /** Starts API processes, which do not compute, and worker processes, all at once. @param more What else their environment has. */
  static async start(
    databaseUrl: string,
    counts: { readonly apis: number; readonly workers: number },
    more: Readonly<Record<string, string>> = {},
  ) {
    const cluster = new Cluster({ ...clusterEnvironment(databaseUrl), ...more });
    const begun = [
      ...Array.from({ length: counts.apis }, () => cluster.addApi()),
      ...Array.from({ length: counts.workers }, () => cluster.addWorker()),
    ];
    const failed = (await Promise.allSettled(begun)).find((start) => start.status === "rejected");
    if (failed === undefined) return cluster;
    await cluster.stop("SIGKILL");
    throw failed.reason;
  }

  async addApi(): Promise<void> {
    this.apis.push(await startProcess("serve", this.#environment));
  }

  async addWorker(): Promise<void> {
    this.workers.push(await startProcess("worker", { ...this.#environment, WORKERS: "1" }));
  }

  /** Kills a worker. @throws When a process that it started lives on. */
  async killWorker(index: number): Promise<void> {
    const [worker] = this.workers.splice(index, 1);
    if (worker !== undefined) await killFamily(worker);
  }

  /** Kills an API process. */
  async killApi(index: number): Promise<void> {
    const [api] = this.apis.splice(index, 1);
    if (api !== undefined) await killFamily(api);
  }

  /** A client of one API process, with the cookie of another client. */
  client(index: number, cookie = ""): TestClient {
    const api = this.apis[index];
    if (api === undefined) throw new RangeError(`Cannot call API process ${index}: there are ${this.apis.length}`);
    const client = api.client();
    client.cookie = cookie;
    return client;
  }

  /** Ends all processes. @returns The errors of those that failed. */
  async stop(signal: Deno.Signal): Promise<string[]> {
    const all = [...this.apis, ...this.workers];
    const family = all.flatMap(({ pid }) => listDescendants(pid));
    const ended = await Promise.all(all.map((process) => process.end(signal)));
    await untilGone(family);
    this.apis.length = 0;
    this.workers.length = 0;
    return ended.filter(({ code }) => code !== 0).map(({ code, stderr }) => `${code}: ${stderr.slice(-2000)}`);
  }
}

/** Kills a process. @throws When a process that it started lives on. */
export async function killFamily(process: RunningProcess): Promise<void> {
  const family = listDescendants(process.pid);
  await process.end("SIGKILL");
  await untilGone(family);
}
