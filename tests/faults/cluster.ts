import type { TestClient } from "../support/client.ts";
import { listDescendants, untilGone } from "../support/processes.ts";
import { type RunningProcess, startProcess } from "../support/process.ts";

/** What all processes of a cluster are started with; those of them that serve do not compute. */
export function clusterEnvironment(databaseUrl: string): Readonly<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    BETTER_AUTH_SECRET: "a secret of at least 32 characters",
    USER_BACKTESTS_MAX: "1000000",
    WORKERS: "0",
  };
}

/** Processes of main.ts on one database, to be ended and started at will. */
export class Cluster {
  readonly apis: RunningProcess[] = [];
  readonly workers: RunningProcess[] = [];
  readonly #environment: Readonly<Record<string, string>>;

  private constructor(databaseUrl: string) {
    this.#environment = clusterEnvironment(databaseUrl);
  }

  /** Starts so many API processes, which do not compute, and worker processes, all at once. */
  static async start(databaseUrl: string, counts: { readonly apis: number; readonly workers: number }) {
    const cluster = new Cluster(databaseUrl);
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

  /** Ends a worker without a warning. @throws When a process that it had started lives on. */
  async killWorker(index: number): Promise<void> {
    const [worker] = this.workers.splice(index, 1);
    if (worker !== undefined) await killFamily(worker);
  }

  /** Ends an API process without a warning. */
  async killApi(index: number): Promise<void> {
    const [api] = this.apis.splice(index, 1);
    if (api !== undefined) await killFamily(api);
  }

  /** A client of one of the API processes with another's cookie. */
  client(index: number, cookie = ""): TestClient {
    const api = this.apis[index];
    if (api === undefined) throw new RangeError(`Cannot speak to API process ${index} of ${this.apis.length}`);
    const client = api.client();
    client.cookie = cookie;
    return client;
  }

  /** Ends all. @returns What those said that ended badly. */
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

async function killFamily(process: RunningProcess): Promise<void> {
  const family = listDescendants(process.pid);
  await process.end("SIGKILL");
  await untilGone(family);
}
