/** Processes of this version on one database with those of the next one. */
import { expect } from "@std/expect";
import { type Answer, BACKTEST, type TestClient } from "../support/client.ts";
import { inCluster } from "../support/cluster.ts";
import { makeNewerBuild } from "../support/newer_build.ts";
import type { RunningProcess } from "../support/process.ts";
import { until } from "../support/until.ts";

const API = { WORKERS: "0" };
const WORKER = { LOG_LEVEL: "info" };

Deno.test("a rolling upgrade under traffic fails no request, and this version leaves the work to the next one", async () => {
  // Rows of tables that both use change their shape, and the old columns stay.
  const newer = await makeNewerBuild(`alter table "backtests" add column "newer" text not null default 'yes'`);
  await inCluster(async (start) => {
    const [first, second, worker] = [
      await start("serve", API),
      await start("serve", API),
      await start("worker", WORKER),
    ];
    const traffic = new Traffic([first, second]);
    await traffic.begin();

    // The first process of the next version migrates.
    const newFirst = await start("serve", API, newer);
    for (const old of [first, second]) await until(async () => (await readySchema(old)) === "newer");
    expect(await readySchema(newFirst)).toBe("current");
    await until(async () => (await newFirst.client().get("/api/health")).at("/workers") === "none");
    const waiting = await traffic.submit();
    expect((await traffic.send("GET", `/api/backtests/${waiting}`)).at("/backtest/status")).toBe("queued");
    const newWorker = await start("worker", WORKER, newer);
    await until(async () =>
      (await traffic.send("GET", `/api/backtests/${waiting}?wait=30`)).at("/backtest/status") === "completed"
    );

    // Then the others go, one after another.
    await traffic.replace(first, newFirst);
    const said = await first.end("SIGTERM");
    expect([said.code, said.stderr]).toEqual([0, expect.stringContaining("takes no more jobs")]);
    const newSecond = await start("serve", API, newer);
    await traffic.replace(second, newSecond);
    await second.end("SIGTERM");
    const idle = await worker.end("SIGTERM");
    expect(idle.stderr.split("\n").filter((line) => /takes no more jobs/.test(line)).length).toBe(1);
    expect(idle.stderr).not.toContain(waiting);
    await traffic.end();
    expect(traffic.failures).toEqual([]);

    // This version is of no use any more, and says so in one line.
    for (const command of ["serve", "worker"] as const) {
      const refused = await start(command, {}).catch(String);
      expect(refused).toMatch(
        /ended: Cannot start: a newer version of Hindcast has migrated the database to schema \d+, and this one knows \d+: start the newer version, or restore the backup from before the upgrade\n$/,
      );
    }
    for (const each of [newFirst, newSecond, newWorker]) expect((await each.end("SIGTERM")).code).toBe(0);
  });
  await Deno.remove(newer, { recursive: true });
});

async function readySchema(service: RunningProcess): Promise<unknown> {
  return (await service.client().get("/api/health/ready")).at("/checks/schema");
}

/** A user who submits, waits and reads, through whichever process a load balancer would choose. */
class Traffic {
  readonly failures: string[] = [];
  #clients: readonly TestClient[];
  #busy: Promise<void>[] = [];
  #isOver = false;
  #count = 0;

  constructor(processes: readonly RunningProcess[]) {
    this.#clients = processes.map((each) => each.client());
  }

  async begin(): Promise<void> {
    const [first] = this.#clients;
    await first!.signUp();
    for (const client of this.#clients) client.cookie = first!.cookie;
    this.#go();
  }

  /** @returns The id of a new backtest. */
  async submit(): Promise<string> {
    const backtest = { ...BACKTEST, initial_balance: 1_000 + this.#count };
    return String((await this.send("POST", "/api/backtests", { backtest })).at("/backtest/id"));
  }

  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    const client = this.#clients[this.#count++ % this.#clients.length]!;
    const answer = await client.send(method, path, body);
    if (answer.status >= 300) this.failures.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  }

  /** Sends to another process from now on, once the requests under way have ended. */
  async replace(old: RunningProcess, by: RunningProcess): Promise<void> {
    await this.end();
    const next = by.client();
    next.cookie = this.#clients[0]!.cookie;
    this.#clients = this.#clients.map((client) => client.url === old.url ? next : client);
    this.#go();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#busy);
  }

  #go(): void {
    this.#isOver = false;
    this.#busy = [this.#loop(), this.#loop()];
  }

  async #loop(): Promise<void> {
    while (!this.#isOver) {
      const id = await this.submit();
      await this.send("GET", `/api/backtests/${id}?wait=1`);
      await this.send("GET", "/api/backtests?limit=5");
      await this.send("GET", "/api/session");
    }
  }
}
