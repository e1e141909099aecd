/** `hindcast` makes runs of every kind, and finds them again. */
import { expect } from "@std/expect";
import { openTerminal, RUN } from "./command_terminal.ts";

type Terminal = Awaited<ReturnType<typeof openTerminal>>;

Deno.test("runs are made, followed, found, cancelled and compared", async () => {
  const { call, json, env, close } = await openTerminal("run");
  const { backtest } = await json([
    ...RUN,
    "-p",
    "fast=12",
    "-p",
    "slow=48",
    "--commission",
    "0.001",
    "--name",
    "mine",
  ]);
  expect(backtest).toMatchObject({
    name: "mine",
    status: "completed",
    parameters: { fast: 12, slow: 48, timeframe: "1h", execution: { commission: { rate: 0.001 } } },
  });
  const later = await json([...RUN, "--no-wait"]);
  expect((await json(["watch", later.backtest.id])).backtest.status).toBe("completed");
  // Without an id, the newest.
  expect((await json(["show"])).backtest.id).toBe(later.backtest.id);
  expect(await call(["export", "trades"])).toEqual(await call(["export", later.backtest.id, "trades"]));
  const shown = await call(["show", backtest.id]);
  expect(shown.stdout).toMatch(/mine {2}DEMO@SAMPLE 1h, 2024-01-01 to 2024-03-01[^]*Net return[^]*Equity[^]*Profit/);
  expect((await json(["list", "--search", "mine"])).backtests.map(({ id }: { id: string }) => id)).toEqual([
    backtest.id,
  ]);
  const changed = await json([...RUN, "-p", "fast=9"]);
  expect((await call(["list"])).stdout).toMatch(/│ sma-cross: fast 9 +│ DEMO@SAMPLE 1h[^]*│ mine +│/);
  expect((await call(["compare", backtest.id, changed.backtest.id])).stdout).toMatch(
    /1: mine +│ 2: sma-cross: fast 9 /,
  );
  const compared = await call(["compare", backtest.id, later.backtest.id]);
  expect(compared.stdout).toMatch(/\/parameters\/slow +│ +48[^]*Sharpe/);
  const stressed = await call(["stress", backtest.id]);
  expect([stressed.code, stressed.stdout]).toEqual([
    0,
    expect.stringMatching(/Change +│ Net return[^]*Days[^]*commission/),
  ]);
  const scan = ["ALDER@SAMPLE,OAK@SAMPLE", "2024-01-01", "2025-01-01", "-t", "1d"];
  const scanned = await call(["optimize", "sma-cross", ...scan, "-s", "fast=4,8", "-s", "slow=24,48"]);
  expect([scanned.stderr, scanned.stdout]).toEqual([
    "",
    expect.stringMatching(/2 markets[^]*Trial[^]*Market[^]*median[^]*2 markets[^]*Earned in[^]*ALDER@SAMPLE/),
  ]);
  const { optimization } = await json([
    ...[
      "optimize",
      ...RUN.slice(1),
      "-s",
      "fast=4:12:4",
      "-s",
      "slow=24,48",
      "--constraint",
      "fast < slow",
      "--no-wait",
    ],
  ]);
  const watched = await json(["watch", optimization.id]);
  expect(watched.optimization).toMatchObject({ status: "completed", trials: { done: 6 } });
  // Three runs and six trials; the scan is of other markets.
  const { stdout } = await call(["show", optimization.id]);
  expect(stdout).toMatch(/6 trials[^]*fast across[^]*How much of it is luck[^]*One of 9 tries/);
  await findEachKind({ call, json }, backtest.id, optimization.id);
  const list = (await showOn(80, "list", env)).trimEnd().split("\r\n");
  expect(list.every((line) => line.length <= 80)).toBe(true);
  expect(list.slice(1, 4).join("\n")).toMatch(/Run +│ +Return │ Sharpe │\n.+\n.* DEMO@SAMPLE 1h/);
  await close();
});

/** Lists, shows, watches, exports and compares what is no backtest. */
async function findEachKind({ call, json }: Pick<Terminal, "call" | "json">, backtest: string, optimization: string) {
  const idsOf = (list: readonly { readonly id: string }[]) => list.map(({ id }) => id);
  const { optimizations } = await json(["list", "--kind", "optimizations", "--status", "completed"]);
  // The scan is the older one.
  expect(idsOf(optimizations)).toEqual([optimization, expect.any(String)]);
  const scan = optimizations[1].id;
  expect((await json(["show", "--kind", "optimizations"])).optimization.id).toBe(optimization);
  expect((await call(["list", "--kind", "optimizations"])).stdout).toMatch(/Objective[^]*DEMO@SAMPLE 1h[^]*2 markets/);
  const trials = await call(["export", "trials"]);
  expect(trials.stdout.trim().split("\n")).toHaveLength(7);
  expect(trials).toEqual(await call(["export", optimization, "trials"]));
  const compared = await call(["compare", optimization, scan]);
  expect(compared.stdout).toMatch(/timeframe +│ +1h[^]*Trials +│ +6 +│ +8[^]*Its parameters/);
  const { monte_carlo } = await json(["monte-carlo", backtest, "--runs", "50", "--no-wait"]);
  expect((await json(["watch", monte_carlo.id])).monte_carlo).toMatchObject({ status: "completed", runs: 50 });
  const trades = await call(["monte-carlo", backtest, "--runs", "50", "--method", "trades"]);
  expect(trades.stdout).toMatch(/Monte Carlo, trades {2}50 paths[^]*shuffled[^]*Median[^]*Max drawdown[^]*It loses on/);
  const { monte_carlos } = await json(["list", "--kind", "monte-carlo", "--backtest", backtest]);
  expect(idsOf(monte_carlos)).toEqual([expect.any(String), monte_carlo.id]);
  expect((await call(["export", monte_carlo.id, "paths"])).stdout.trim().split("\n")).toHaveLength(51);
  const pair = await json(["compare", monte_carlo.id, monte_carlos[0].id]);
  expect(pair.compared.map(({ monte_carlo: each }: typeof pair) => each.method)).toEqual(["returns", "trades"]);
  const { stress_tests } = await json(["list", "--kind", "stress-tests"]);
  expect((await json(["show", stress_tests[0].id])).stress_test.backtest_id).toBe(backtest);
  const mixed = await call(["compare", backtest, optimization]);
  expect([mixed.code, mixed.stderr]).toEqual([
    2,
    expect.stringMatching(/the backtest .* with the optimization .*: name runs/),
  ]);
  const lacking = await call(["export", optimization, "trades"]);
  expect([lacking.code, lacking.stderr]).toEqual([
    2,
    expect.stringContaining("it has trials, account, splits, returns"),
  ]);
}

/** Calls a command on a terminal of so many columns. @returns The screen. */
async function showOn(columns: number, command: string, env: Readonly<Record<string, string>>): Promise<string> {
  const line = `stty cols ${columns}; '${Deno.execPath()}' task --quiet hindcast ${command}`;
  const { stdout } = await new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", line, "/dev/null"],
    cwd: new URL("../..", import.meta.url),
    env: { ...env, TERM: "xterm", NO_COLOR: "1" },
  }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test("Ctrl+C leaves a run to the service, which cancels it when it is asked to", async () => {
  // Nobody works, so that the runs wait.
  const { env, json, close } = await openTerminal("run", { WORKERS: "0" });
  const { code, screen } = await pressCtrlC(["task", "--quiet", "hindcast", ...RUN], env, "queued");
  expect([code, screen]).toEqual([130, expect.stringMatching(/The run goes on: hindcast watch [0-9a-f-]{36}/)]);
  const id = screen.match(/watch ([0-9a-f-]{36})/)![1]!;
  const other = (await json([...RUN, "--no-wait"])).backtest.id;
  const scan = ["optimize", ...RUN.slice(1), "-s", "fast=4,8", "--no-wait"];
  const { optimization } = await json(scan);
  expect((await json(["show", id])).backtest.status).toBe("queued");
  const { cancelled } = await json(["cancel", id, other, optimization.id]);
  expect(cancelled).toMatchObject([
    ...[id, other].map((each) => ({ backtest: { id: each, status: "cancelled" } })),
    { optimization: { id: optimization.id, status: "cancelled" } },
  ]);
  await close();
});

/** Runs a command in a terminal, and presses Ctrl+C once the terminal shows a text. */
async function pressCtrlC(args: readonly string[], env: Readonly<Record<string, string>>, shown: string) {
  const line = [Deno.execPath(), ...args].map((each) => `'${each}'`).join(" ");
  const process = new Deno.Command("script", {
    args: ["--quiet", "--return", "--command", line, "/dev/null"],
    cwd: new URL("../..", import.meta.url),
    env: { ...env, TERM: "xterm" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const keyboard = process.stdin.getWriter();
  let screen = "";
  let isPressed = false;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    screen += text;
    if (isPressed || !screen.includes(shown)) continue;
    isPressed = true;
    await keyboard.write(Uint8Array.of(3));
  }
  const { code } = await process.status;
  await keyboard.close().catch(() => {});
  return { code, screen };
}
