/** Processes of users' code, and workers, that are killed from outside: nothing is lost, and the caller reads why something ended. */
import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";
import { inCluster } from "../support/cluster.ts";
import { administer } from "../support/database.ts";
import { finishOptimization, submitOptimization } from "../support/optimizations.ts";
import { listDescendants } from "../support/processes.ts";
import { INGESTION_SECRET } from "../support/service.ts";
import { until } from "../support/until.ts";
import { registration } from "./foreign_code.ts";

const ENTRY = "workers/sandbox/child.ts";
const PAGE_BYTES = 4096;
/** More than any process has but that of a large trial. */
const LARGE_BYTES = 160 * 2 ** 20;
/** A script of which the point "large" holds 160 MB a market for a moment. */
const SCRIPT = `strategy(({ size }) => {
  const kept = [];
  let decided = 0;
  return { decide(i, { close }, account, orders) {
    const change = close[i] - close[i - 10];
    if (account.quantity === 0 && change > 0) orders.buy();
    else if (account.quantity > 0 && change < 0) orders.close();
    if (size !== "large" || ++decided > 3) return;
    if (kept.length === 0) kept.push(new Float64Array(2e7).fill(1));
    for (let k = 0; k < 4e6; k++) kept[0][k] = Math.sin(k);
  } };
});`;
const ENDLESS = "strategy(() => ({ decide() { for (;;); } }));";
const HONEST = "strategy(() => ({ decide(i, candles, account, orders) { if (i === 3) orders.buy(); } }));";
const inline = (source: string) => ({ type: "script", source });
const OWN = {
  ...{ ...registration("mine", inline(SCRIPT)), language: "typescript" },
  parameter_schema: { type: "object", properties: { size: { type: "string" } } },
};
const instruments = ["ALDER", "ASPEN"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
const ACCOUNT = { timeframe: "1d", instruments };
const OAK = { symbol: "OAK", exchange: "SAMPLE", initial_balance: 10_000 };
const REQUEST = {
  ...{ ...OAK, start_date: "2024-01-01", end_date: "2024-07-01", strategy: "mine" },
  space: { size: { values: ["first", "large", "third", "fourth"] } },
};

const IMPORT = "/api/admin/ingestion/import?symbol=LARCH&exchange=MINE&assetClass=crypto&timeframe=1m";
const IMPORT_HEADERS = { "x-ingestion-admin-secret": INGESTION_SECRET, "content-type": "text/csv" };
/** The first months of 2024, as many as an import stores at once. */
const FIRST = (31 + 29) * 1440;
const ALL = FIRST + 13_600;

function writeMinutes(from: number, until: number): string {
  const rows = Array.from({ length: until - from }, (_, i) => {
    return `${new Date(Date.UTC(2024, 0, 1, 0, from + i)).toISOString()},1,2,1,2,10\n`;
  });
  return `date,open,high,low,close,volume\n${rows.join("")}`;
}

/** Sends the beginning of a file, and kills the service once it has stored some of it. */
async function beginImport(url: string, databaseUrl: string, kill: () => Promise<unknown>): Promise<void> {
  const beginning = new TextEncoder().encode(writeMinutes(0, FIRST + 1000));
  const body = new ReadableStream({ start: (controller) => controller.enqueue(beginning) });
  const cut = fetch(`${url}${IMPORT}`, { method: "POST", headers: IMPORT_HEADERS, body }).catch((error) => error);
  const stored = `select from candle_chunks join instruments on id = instrument_id where exchange = 'MINE'`;
  await until(async () => (await administer(databaseUrl, stored)).length > 0);
  await kill();
  expect(await cut).toBeInstanceOf(Error);
}

Deno.test("processes of users' code and workers that are killed from outside lose nothing", async (t) => {
  await inCluster(async (start, databaseUrl) => {
    const serve = () => start("serve", { WORKERS: "0", INGESTION_ADMIN_SECRET: INGESTION_SECRET });
    let service = await serve();
    let worker = await start("worker", { WORKERS: "1" });
    const user = service.client();
    await user.signUp();
    await t.step("a check is tried once more, and then says what happened", () => killChecks(user, worker.pid));
    await user.send("POST", "/api/strategies", { strategy: OWN });
    for (const parameters of [ACCOUNT, { timeframe: "1d" }]) {
      const over = parameters === ACCOUNT ? "many markets with one account" : "one market";
      await t.step(`one kill changes no trial over ${over}, and a second one fails a trial alone`, async () => {
        const clean = await optimize(user, parameters);
        await killTrials(user, worker.pid, { parameters, clean });
        if (parameters !== ACCOUNT) return;
        const id = await submitOptimization(user, { ...REQUEST, parameters });
        await until(() => listSandboxes(worker.pid, LARGE_BYTES).length > 0);
        await worker.end("SIGKILL");
        worker = await start("worker", { WORKERS: "1" });
        expect(await readTrials(user, id)).toEqual(clean);
      });
    }
    await t.step("five trials in a row that end their processes end the optimization with a reason", async () => {
      const killer = new Killer(worker.pid, Infinity);
      const space = { size: { values: [..."abcdefgh"] } };
      const id = await submitOptimization(user, { ...REQUEST, parameters: ACCOUNT, space });
      const ended = await finishOptimization(user, id);
      await killer.end();
      expect(killer.killed.size).toBeGreaterThanOrEqual(10);
      expect(ended.at("/optimization")).toMatchObject({ status: "failed", error: { code: "STRATEGY_FAILED" } });
      expect(ended.at("/optimization/error/message")).toMatch(/^Cannot go on: 5 trials in a row ended their processes/);
    });
    await worker.end("SIGTERM");
    await t.step("an import that is sent again after its service was killed stores what is missing", async () => {
      await beginImport(service.url, databaseUrl, () => service.end("SIGKILL"));
      service = await serve();
      const again = await service.client().send("POST", IMPORT, writeMinutes(0, ALL), IMPORT_HEADERS);
      // They were stored before the end, and a chunk is stored whole or not at all.
      expect([again.status, again.at("/unchanged"), again.at("/imported")]).toEqual([200, FIRST, ALL - FIRST]);
    });
    await service.end("SIGTERM");
  });
});

async function killChecks(user: TestClient, worker: number): Promise<void> {
  const submit = (source: string) =>
    user.send("POST", "/api/backtests", {
      backtest: {
        ...{ ...OAK, symbol: "DEMO", start_date: "2024-02-01", end_date: "2024-02-03", strategy: "killed" },
        parameters: { timeframe: "1h", runtime: inline(source) },
      },
    });
  const killer = new Killer(worker, Infinity);
  const broken = await submit(ENDLESS);
  await killer.end();
  expect([broken.status, broken.at("/error/code")]).toEqual([503, "UNAVAILABLE"]);
  expect(broken.at("/error/message")).toMatch(/^Cannot check the code: the process of its check ended twice/);
  expect(broken.headers.get("retry-after")).toBe("15");
  expect(broken.text).not.toMatch(/SIGKILL|\/work|\/home|\.ts/);
  expect(killer.killed.size).toBeGreaterThan(1);

  const once = new Killer(worker, 1);
  const honest = await submit(HONEST);
  await once.end();
  expect([honest.status, once.killed.size]).toEqual([202, 1]);
}

/** The trials of an optimization. */
type Trials = readonly { readonly parameters: { readonly size: string }; readonly error: unknown }[];

async function readTrials(user: TestClient, id: string): Promise<Trials> {
  const ended = await finishOptimization(user, id);
  expect([ended.at("/optimization/status"), ended.at("/optimization/error")]).toEqual(["completed", null]);
  return (await user.get(`/api/optimizations/${id}/trials`)).list("/trials").map(Object);
}

async function optimize(user: TestClient, parameters: object): Promise<Trials> {
  return await readTrials(user, await submitOptimization(user, { ...REQUEST, parameters }));
}

async function killTrials(
  user: TestClient,
  worker: number,
  { parameters, clean }: { readonly parameters: object; readonly clean: Trials },
): Promise<void> {
  expect(clean.map(({ error }) => error)).toEqual(Array(4).fill(null));
  const once = new Killer(worker, 1, LARGE_BYTES);
  expect(await optimize(user, parameters)).toEqual(clean);
  await once.end();
  const twice = new Killer(worker, 2, LARGE_BYTES);
  const trials = await optimize(user, parameters);
  await twice.end();
  expect([once.killed.size, twice.killed.size]).toEqual([1, 2]);
  const isLarge = ({ parameters }: Trials[number]) => parameters.size === "large";
  expect(trials.filter((trial) => !isLarge(trial))).toEqual(clean.filter((trial) => !isLarge(trial)));
  expect(trials.find(isLarge)).toMatchObject({
    error: { code: "STRATEGY_FAILED", message: "Cannot finish: its process ended twice without an answer" },
  });
}

/** Kills processes of a worker's sandboxes, so many of them, as soon as they are there. */
class Killer {
  readonly killed = new Set<number>();
  readonly #ended: Promise<void>;
  #isOver = false;

  /** @param bytesMin Leaves processes with less resident memory alone. */
  constructor(worker: number, most: number, bytesMin = 0) {
    this.#ended = this.#kill(worker, most, bytesMin);
  }

  async #kill(worker: number, most: number, bytesMin: number): Promise<void> {
    while (!this.#isOver && this.killed.size < most) {
      for (const pid of listSandboxes(worker, bytesMin)) {
        if (this.killed.size >= most || this.killed.has(pid)) continue;
        this.killed.add(pid);
        Deno.kill(pid, "SIGKILL");
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

/** The processes of a worker's sandboxes that hold so much memory at least. Linux only. */
function listSandboxes(worker: number, bytesMin: number): number[] {
  return listDescendants(worker).map(({ pid }) => pid).filter((pid) => {
    try {
      const resident = Number(Deno.readTextFileSync(`/proc/${pid}/statm`).split(" ")[1]) * PAGE_BYTES;
      return resident >= bytesMin && Deno.readTextFileSync(`/proc/${pid}/cmdline`).includes(ENTRY);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  });
}
