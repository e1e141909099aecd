/**
 * Stores a run of a quarter of a million trades and one of over a million orders, while another user asks for the service's health: the
 * longest silence, on an embedded database and on PostgreSQL, over HTTP to a process of its own.
 *
 * `deno run --allow-all bench/storing_bench.ts [orders a candle] [tags: none|unique]`; with TEST_DATABASE_URL as `deno task bench` sets it.
 */
import { createTestDatabase } from "../tests/support/database.ts";
import type { TestClient } from "../tests/support/client.ts";
import { type RunningProcess, startProcess } from "../tests/support/process.ts";
import { compileWat } from "../tests/workers/sandbox/wasm/modules.ts";
import { printFigures } from "./measure.ts";

// Asked whether or not the earlier ones were answered: a silence is seen from its beginning to its end.
const HEALTH_EVERY_MS = 20;
const TRADES = { strategy: "SMA Cross", parameters: { timeframe: "1m", fast: 1, slow: 2 } };

const ordersPerCandle = Number(Deno.args[0] ?? 3);
const hasTags = Deno.args[1] === "unique";

const DATA_DIR = await Deno.makeTempDir({ prefix: "hindcast-bench-" });
try {
  await measure("embedded", { DATA_DIR });
} finally {
  await Deno.remove(DATA_DIR, { recursive: true });
}
if (Deno.env.has("TEST_DATABASE_URL")) {
  const { url, drop } = await createTestDatabase();
  try {
    await measure("PostgreSQL", { DATABASE_URL: url, BETTER_AUTH_SECRET: "a secret of at least 32 characters" });
  } finally {
    await drop();
  }
}

async function measure(kind: string, environment: Record<string, string>): Promise<void> {
  const service = await startProcess("serve", { WORKERS: "2", ...environment });
  try {
    const client = service.client();
    await client.signUp();
    const module = (await register(client)).slug;
    await run(client, { strategy: "SMA Cross", parameters: { timeframe: "1d" } });
    await report(`${kind}, idle`, service, () => new Promise((resume) => setTimeout(resume, 2000)));
    await report(`${kind}, trades`, service, () => run(client, TRADES));
    await report(`${kind}, orders`, service, () => run(client, { strategy: module, parameters: { timeframe: "1m" } }));
  } finally {
    await service.end("SIGTERM");
  }
}

async function report(title: string, service: RunningProcess, work: () => Promise<unknown>): Promise<void> {
  const stranger = service.client();
  const asked: Promise<number>[] = [];
  const ask = async () => {
    const begun = performance.now();
    await stranger.get("/api/health");
    return performance.now() - begun;
  };
  const timer = setInterval(() => asked.push(ask()), HEALTH_EVERY_MS);
  const begun = performance.now();
  const said = await work();
  const tookMs = performance.now() - begun;
  clearInterval(timer);
  const sorted = (await Promise.all(asked)).toSorted((a, b) => a - b);
  const at = (share: number) => `${(sorted[Math.floor(share * (sorted.length - 1))] ?? NaN).toFixed(0)} ms`;
  await printFigures(`${title}${said === undefined ? "" : ` (${said})`}`, {
    "until the result is stored": `${(tookMs / 1000).toFixed(1)} s`,
    "of a health check, p50": at(0.5),
    "p99": at(0.99),
    "the longest": at(1),
  });
}

/** @returns What was stored, in words. */
async function run(client: TestClient, more: object): Promise<string> {
  const year = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2025-01-01" };
  const backtest = { ...year, initial_balance: 10_000, ...more };
  const answer = await client.send("POST", "/api/backtests", { backtest });
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  const id = answer.at("/backtest/id");
  for (;;) {
    const record = await client.get(`/api/backtests/${id}?wait=30`);
    const status = record.at("/backtest/status");
    if (status === "failed") throw new Error(`Cannot finish: ${JSON.stringify(record.at("/backtest/error"))}`);
    if (status === "completed") return `${record.at("/backtest/result/metrics/trades")} trades`;
  }
}

/** Registers a module that places limit orders far below the price at each candle, for one candle each. */
async function register(client: TestClient): Promise<{ readonly slug: string }> {
  const slug = "many-orders";
  const content_base64 = compileWat(manyOrders(ordersPerCandle)).toBase64();
  const strategy = {
    slug,
    name: slug,
    description: "",
    runtime_type: "wasm",
    language: "wat",
    lookback_candles: 1,
    parameter_schema: { type: "object" },
    initial_version: { version: "1.0", runtime_config: { type: "wasm", artifact: { content_base64 } } },
  };
  const answer = await client.send("POST", "/api/strategies", { strategy });
  if (answer.status !== 201) throw new Error(`Cannot register the module: ${answer.status} ${answer.text}`);
  return { slug };
}

function manyOrders(count: number): string {
  // A tag is the order's number in eight letters.
  const letters = Array.from(
    { length: 8 },
    (_, digit) =>
      `(i32.store8 offset=${digit} (local.get $tag) (i32.add (i32.const 97)
      (i32.and (i32.shr_u (global.get $number) (i32.const ${4 * digit})) (i32.const 15))))`,
  ).join("\n");
  const tag = `
    (local.set $tag (i32.add (i32.const 1024) (i32.shl (local.get $k) (i32.const 3))))
    ${letters}
    (i32.store offset=104 (local.get $order) (local.get $tag))
    (i32.store offset=108 (local.get $order) (i32.const 8))`;
  return `(module
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 8192))
    (global $number (mut i32) (i32.const 0))
    (func (export "abi_version") (result i32) (i32.const 1))
    (func (export "alloc") (param $size i32) (result i32) (local $block i32) (local $missing i32)
      (local.set $block (global.get $free))
      (global.set $free (i32.add (local.get $block) (i32.and (i32.add (local.get $size) (i32.const 7)) (i32.const -8))))
      (local.set $missing (i32.sub
        (i32.shr_u (i32.add (global.get $free) (i32.const 65535)) (i32.const 16)) (memory.size)))
      (if (i32.gt_s (local.get $missing) (i32.const 0)) (then (drop (memory.grow (local.get $missing)))))
      (local.get $block))
    (func (export "init") (param $frame i32) (result i32) (i32.const 0))
    (func (export "on_candle") (param $frame i32) (result i32) (local $order i32) (local $k i32) (local $tag i32)
      (local.set $order (i32.load offset=56 (local.get $frame)))
      (loop $next
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (i32.store offset=8 (local.get $order) (i32.const 1))
        (i32.store offset=12 (local.get $order) (i32.const 1))
        (f64.store offset=16 (local.get $order) (f64.const 1))
        (f64.store offset=24 (local.get $order) (f64.const 0.01))
        (i32.store offset=88 (local.get $order) (i32.const 1))
        ${hasTags ? tag : ""}
        (global.set $number (i32.add (global.get $number) (i32.const 1)))
        (local.set $order (i32.add (local.get $order) (i32.const 112)))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $k) (i32.const ${count}))))
      (i32.const ${count})))`;
}
