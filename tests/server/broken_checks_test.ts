/** Checks whose processes are killed from outside: the caller reads so at once, and an honest script is checked in another. */
import { expect } from "@std/expect";
import process from "node:process";
import { listDescendants } from "../support/processes.ts";
import { startTestService } from "../support/service.ts";

const ENDLESS = "strategy(() => ({ decide() { for (;;); } }));";
const HONEST = "strategy(() => ({ decide(i, candles, account, orders) { if (i === 3) orders.buy(); } }));";
const ENTRY = "workers/sandbox/child.ts";

Deno.test("a check whose process is killed is tried once more, and then says what happened", async () => {
  const service = await startTestService("PostgreSQL");
  const user = await service.user();
  const submit = (source: string) =>
    user.send("POST", "/api/backtests", {
      backtest: {
        ...{ symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-02-01", end_date: "2024-02-03", strategy: "killed" },
        ...{ initial_balance: 10_000, parameters: { timeframe: "1h", runtime: { type: "script", source } } },
      },
    });

  const killer = new Killer(Infinity);
  const broken = await submit(ENDLESS);
  await killer.end();
  expect([broken.status, broken.at("/error/code")]).toEqual([503, "UNAVAILABLE"]);
  expect(broken.at("/error/message")).toMatch(/^Cannot check the code: the process of its check ended twice/);
  expect(broken.headers.get("retry-after")).toBe("15");
  expect(broken.text).not.toMatch(/SIGKILL|\/work|\/home|\.ts/);
  expect(killer.killed.size).toBeGreaterThan(1);

  const once = new Killer(1);
  const honest = await submit(HONEST);
  await once.end();
  expect([honest.status, once.killed.size]).toEqual([202, 1]);
  await service.close();
});

/** Kills processes of sandboxes, so many of them, as soon as they are there. */
class Killer {
  readonly killed = new Set<number>();
  readonly #ended: Promise<void>;
  #isOver = false;

  constructor(most: number) {
    this.#ended = this.#kill(most);
  }

  async #kill(most: number): Promise<void> {
    while (!this.#isOver && this.killed.size < most) {
      for (const { pid } of listDescendants(process.pid)) {
        if (this.killed.size < most && !this.killed.has(pid) && isSandbox(pid)) {
          this.killed.add(pid);
          Deno.kill(pid, "SIGKILL");
        }
      }
      // The process table tells nobody of its changes.
      await new Promise((resume) => setTimeout(resume, 5));
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#ended;
  }
}

function isSandbox(pid: number): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(ENTRY);
  } catch {
    // It has ended meanwhile.
    return false;
  }
}
