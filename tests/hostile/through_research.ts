/** Attacks by a user with research and portfolios on a service with its own permissions: `deno task hostile`. */
import { expect } from "@std/expect";
import { STORED_BYTES_MAX } from "../../workers/sandbox/contracts/log_bounds.ts";
import { BACKTEST, type TestClient } from "../support/client.ts";
import { finishOptimization, OPTIMIZATION, submitOptimization } from "../support/optimizations.ts";
import { startProcess } from "../support/process.ts";
import { buildInterpreter } from "../../workers/sandbox/python/build_interpreter.ts";

// Minutes in the attacks as they were found; a loaded machine takes seconds.
const OTHERS_RUN_MS_MAX = 20_000;
// All sessions, also the slowest one.
const SESSION_MS_MAX = 1_000;
const SESSION_EVERY_MS = 50;

const MARKETS = ["OAK", "PINE"].map((symbol) => ({ symbol, exchange: "SAMPLE" }));
const PORTFOLIO = {
  ...{ symbol: "OAK", exchange: "SAMPLE", strategy: "mine", initial_balance: 10_000 },
  ...{ start_date: "2023-01-01", end_date: "2023-02-01" },
};
const DECIDING = (decide: string) =>
  `portfolio(() => ({ every: "day", decide(now, markets, account, orders) { ${decide} } }));`;

/** Scripts over many markets, and how their runs end. */
const PORTFOLIOS: readonly (readonly [what: string, decide: string, message: RegExp])[] = [
  ["lines without end", 'for (let n = 0; n < 100; n++) console["log"]("é".repeat(5000));', /^null$/],
  [
    "a replaced JSON",
    'JSON.stringify = () => "x".repeat(2 ** 24); console["log"]({});',
    /^null$|Cannot use more than 512 MiB of memory/,
  ],
  ["17 plots", 'for (let n = 0; n < 17; n++) plot("p" + n, n);', /at most 16/],
  ["a long name of a plot", 'plot("x".repeat(65), 1);', /1 to 64 characters/],
  ["a tag of 64 KiB", 'orders.of("OAK").buy({ tag: "x".repeat(2 ** 16) });', /tag/],
  ["a message of 64 MiB", 'throw new Error("x".repeat(2 ** 26));', /Error: x/],
];

/** Lines of a script in Python, behind the candles that the check of a submission runs, and how their runs end. */
const PYTHON: readonly (readonly [what: string, lines: string, message: RegExp])[] = [
  ["lines without end", 'for n in range(100000): print("é" * 5000)', /^null$/],
  ["a line of 128 MiB", 'print("x" * (1 << 27))', /^null$|MemoryError|Cannot use more than \d+ MiB/],
  ["17 plots", 'for n in range(17): plot("p" + str(n), n)', /at most 16/],
  ["a long name of a plot", 'plot("x" * 65, 1)', /1 to 64 characters/],
  ["a tag of 64 KiB", 'orders.buy(tag="x" * (1 << 16))', /tag/],
  [
    "a message of 64 MiB",
    'raise ValueError("x" * (1 << 26))',
    /ValueError: x|MemoryError|Cannot use more than \d+ MiB/,
  ],
  ["a list of all memory", "self.all = [bytes(1 << 20) for n in range(1000)]", /MemoryError/],
  [
    "the way out of its interpreter",
    'crosses_above.__globals__["sys"].modules["posix"]._exit(0)',
    /interpreter|KeyError/,
  ],
];

Deno.test("what one user does with research and portfolios neither breaks the service nor holds another up", async (t) => {
  await buildInterpreter();
  const folder = await Deno.makeTempDir({ prefix: "hindcast-test-" });
  const service = await startProcess("serve", { DATA_DIR: folder, PYTHON: "on" });
  const [worst, other] = [service.client(), service.client()];
  await worst.signUp();
  await other.signUp();
  const own = await runOf(worst, BACKTEST);
  await runOf(other, BACKTEST);
  const step = (what: string, attack: () => Promise<void>) =>
    t.step(what, async () => {
      const sessions = watchSessions(other, service.pid);
      try {
        await attack();
        const begun = performance.now();
        await runOf(other, { ...BACKTEST, fresh: true });
        expect(performance.now() - begun).toBeLessThan(OTHERS_RUN_MS_MAX);
      } finally {
        expect(await sessions.slowMs()).toBeLessThan(SESSION_MS_MAX);
      }
    });

  await step("surfaces of 250,000 cells, eight at once, and one of more", () => drawSurfaces(worst));
  await step("searches of 1,200 foreign parameters, deleted at once", () => search(worst));
  await step("Monte Carlo simulations of as many paths as may be, deleted at once", () => simulate(worst, own));
  await step("stress tests, again and again", async () => {
    const stress = () => worst.send("POST", `/api/backtests/${own}/stress`, {});
    const statuses = (await Promise.all(Array.from({ length: 20 }, stress))).map(({ status }) => status);
    expect(new Set(statuses).difference(new Set([202, 429]))).toEqual(new Set());
    expect(statuses).toContain(202);
  });
  await step("curves and returns in each format, many at once", async () => {
    const paths = ["equity", "returns?period=daily"].flatMap((path) =>
      ["json", "csv", "arrow"].map((format) => `${path}${path.includes("?") ? "&" : "?"}format=${format}`)
    );
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => worst.get(`/api/backtests/${own}/${paths[i % paths.length]}`)),
    );
    expect(new Set(answers.map(({ status }) => status)).difference(new Set([200, 429]))).toEqual(new Set());
    expect((await other.get(`/api/backtests/${own}/equity?format=csv`)).status).toBe(404);
  });
  for (const [what, decide, message] of PORTFOLIOS) {
    await step(`a portfolio's script with ${what}`, () => runPortfolio(worst, decide, message));
  }
  for (const [what, lines, message] of PYTHON) {
    await step(`a script in Python with ${what}`, () => runPython(worst, lines, message));
  }
  const { code, stderr } = await service.end("SIGTERM");
  expect([code, stderr]).toEqual([0, ""]);
  await Deno.remove(folder, { recursive: true });
});

async function runOf(user: TestClient, backtest: object): Promise<string> {
  const made = await user.send("POST", "/api/backtests", { backtest });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const id = String(made.at("/backtest/id"));
  expect((await user.finish(id)).at("/backtest/status")).toBe("completed");
  return id;
}

/**
 * Asks for a session again and again, whether or not the earlier ones were answered.
 *
 * @param pid Of the service, whose first thread answers.
 */
function watchSessions(user: TestClient, pid: number) {
  const asked: Promise<number>[] = [];
  const ask = async () => {
    const begun = readThreadMs(pid);
    expect((await user.get("/api/session")).status).toBe(200);
    return readThreadMs(pid) - begun;
  };
  const timer = setInterval(() => asked.push(ask()), SESSION_EVERY_MS);
  return {
    /** The longest time that the thread worked, on this and on others, before it answered: a loaded machine makes it no longer. */
    async slowMs() {
      clearInterval(timer);
      return Math.max(0, ...await Promise.all(asked));
    },
  };
}

/** Processor time of a process's first thread. */
function readThreadMs(pid: number): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/stat`).split(") ")[1]?.split(" ") ?? [];
  // Of the user and the system, in hundredths of a second.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function drawSurfaces(user: TestClient): Promise<void> {
  const axis = (min: number, max: number) => ({ min, max, step: 1 });
  const sample = { method: "random", trials_max: 10, seed: 1 };
  const id = await submitOptimization(user, { space: { fast: axis(1, 500), slow: axis(501, 1000) }, ...sample });
  expect((await finishOptimization(user, id)).at("/optimization/status")).toBe("completed");
  const path = `/api/optimizations/${id}/surface?x=fast&y=slow`;
  for (const answer of await Promise.all(Array.from({ length: 8 }, () => user.get(path)))) {
    expect(answer.status).toBe(200);
    const counts = answer.list("/surface/counts").flat();
    expect(counts).toHaveLength(250_000);
    // A point without trades has no metric.
    expect(counts.filter((count) => count !== 0).length).toBeGreaterThan(0);
  }
  const wider = await submitOptimization(user, { space: { fast: axis(1, 501), slow: axis(502, 1001) }, ...sample });
  const refused = await user.get(`/api/optimizations/${wider}/surface?x=fast&y=slow`);
  expect([refused.status, refused.at("/error/code")]).toEqual([400, "VALIDATION_FAILED"]);
}

async function search(user: TestClient): Promise<void> {
  const parameters = {
    ...OPTIMIZATION.parameters,
    ...Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`x-${n}`, n])),
  };
  const optimization = {
    ...{ ...OPTIMIZATION, parameters, method: "random", trials_max: 200, seed: 1 },
    space: { fast: { min: 1, max: 1000, step: 1 }, slow: { min: 2, max: 1000, step: 1 } },
    constraints: ["slow - fast >= 990"],
  };
  for (let i = 0; i < 4; i++) {
    const made = await user.send("POST", "/api/optimizations", { optimization });
    expect([made.status, made.at("/error")]).toEqual([202, undefined]);
    const path = `/api/optimizations/${made.at("/optimization/id")}`;
    expect((await user.send("POST", `${path}/cancel`)).status).toBe(202);
    expect((await user.send("DELETE", path)).status).toBe(204);
  }
}

async function simulate(user: TestClient, backtest_id: string): Promise<void> {
  for (const method of ["trades", "returns", "candles"]) {
    const made = await user.send("POST", "/api/monte-carlo", { monte_carlo: { backtest_id, method, runs: 10_000 } });
    expect([method, made.status, made.at("/error")]).toEqual([method, 202, undefined]);
    const path = `/api/monte-carlo/${made.at("/monte_carlo/id")}`;
    expect([method, (await user.send("DELETE", path)).status]).toEqual([method, 204]);
    expect([method, (await user.get(path)).status]).toEqual([method, 404]);
  }
}

async function runPython(user: TestClient, lines: string, message: RegExp): Promise<void> {
  const decide = `if i == 5000:\n            ${lines}`;
  const source = `class Own(Strategy):\n    def decide(self, i, candles, account, orders):\n        ${decide}\n`;
  const runtime = { type: "script", language: "python", source };
  await runHostile(user, { ...BACKTEST, strategy: "mine", parameters: { timeframe: "1m", runtime } }, message);
}

/** The check of a registration runs a script, too: only on the run's markets it does harm. */
async function runPortfolio(user: TestClient, decide: string, message: RegExp): Promise<void> {
  const source = DECIDING(`if (markets[0].symbol === "OAK") { ${decide} }`);
  const parameters = { timeframe: "1d", instruments: MARKETS, runtime: { type: "script", source } };
  await runHostile(user, { ...PORTFOLIO, parameters }, message);
}

/** Runs a script to its end, whose message is bounded as its log is. */
async function runHostile(user: TestClient, backtest: object, message: RegExp): Promise<void> {
  const made = await user.send("POST", "/api/backtests", { backtest });
  expect([made.status, made.at("/error")]).toEqual([202, undefined]);
  const id = String(made.at("/backtest/id"));
  const error = String((await user.finish(id)).at("/backtest/error/message") ?? null);
  expect(error).toMatch(message);
  expect(error.length).toBeLessThan(10_000);
  const log = await user.get(`/api/backtests/${id}/log`);
  expect(log.status).toBe(200);
  expect(log.list("/log").length).toBeLessThanOrEqual(1_000);
  expect(new TextEncoder().encode(log.text).byteLength).toBeLessThan(2 * STORED_BYTES_MAX);
}
