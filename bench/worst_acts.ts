/** The worst that one user can do to a service: each act is one of them. */
import type { TestClient } from "../tests/support/client.ts";
import { askSilently } from "../tests/support/silent_client.ts";
import { compileWat, strategyWat } from "../tests/workers/sandbox/wasm/modules.ts";

/** A service, a user who does their worst, and another. */
export interface Stage {
  readonly url: string;
  /** Answers 1xx for ever. */
  readonly hinterUrl: string;
  readonly worst: TestClient;
  readonly other: TestClient;
}

const YEAR = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2025-01-01" };
const MINUTES = { timeframe: "1m", fast: 1, slow: 2 };
const SIGN_INS = 250;
const ORDERS_A_CANDLE = 3;
const MODULES = 20;
const CHECKED_CANDLES = 20_000;
const HINTED_MODULES = 10;
const SILENT_CLIENTS = 300;
// Longer than it takes until the silent ones are cut off.
const SILENT_MS = 8_000;
const SYMBOLS = 200;
const ENTRIES = 49;
const ENTRY_BYTES = 60_000;

/** By name; each returns a note on the outcome. */
export const ACTS: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  "wrong sign-ins at once": async ({ worst }) => {
    const body = { email: "nobody@example.com", password: "not the password" };
    return await countStatuses(SIGN_INS, () => worst.send("POST", "/api/auth/sign-in/email", body));
  },
  "storing trades": async ({ worst }) => {
    const ended = await run(worst, { strategy: "SMA Cross", parameters: MINUTES });
    return `${ended.at("/backtest/result/metrics/trades")} trades`;
  },
  "storing orders": async ({ worst }) => {
    await register(worst, "many-orders", { artifact: artifactOf(manyOrders(ORDERS_A_CANDLE)) });
    const ended = await run(worst, { strategy: "many-orders", parameters: { timeframe: "1m" } });
    return String(ended.at("/backtest/status"));
  },
  "endless modules": async ({ worst, other }) => {
    // The check of a registration runs a few hundred candles.
    const endless = strategyWat({
      before: "(global $n (mut i32) (i32.const 0))",
      onCandle: `(global.set $n (i32.add (global.get $n) (i32.const 1)))
        (loop $again (br_if $again (i32.gt_u (global.get $n) (i32.const ${CHECKED_CANDLES})))) (i32.const 0)`,
    });
    await register(worst, "endless", { artifact: artifactOf(endless) });
    const submitted = await Promise.all(
      Array.from({ length: MODULES }, () => submit(worst, { strategy: "endless", parameters: { timeframe: "1d" } })),
    );
    const begun = performance.now();
    await run(other, { strategy: "SMA Cross", parameters: { timeframe: "1d" } });
    const tookMs = performance.now() - begun;
    await Promise.all(submitted.map((id) => worst.send("POST", `/api/backtests/${id}/cancel`)));
    return `another's run took ${(tookMs / 1000).toFixed(1)} s`;
  },
  "modules behind endless 1xx": async ({ worst, hinterUrl }) => {
    let n = 0;
    return await countStatuses(HINTED_MODULES, () => {
      n++;
      return tryRegister(worst, `hinted-${n}`, { moduleUrl: `${hinterUrl}/${n}` });
    });
  },
  "clients that never read": async ({ url }) => {
    const path = "/api/market-data/ticks?symbol=DEMO&startDate=2024-01-01&endDate=2025-01-01&timeframe=1m";
    const silent = await Promise.all(Array.from({ length: SILENT_CLIENTS }, () => askSilently(url, path)));
    await new Promise((resume) => setTimeout(resume, SILENT_MS));
    for (const client of silent) client.close();
    return "";
  },
  "symbols and their spellings": async ({ worst }) => {
    let n = 0;
    return await countStatuses(SYMBOLS, () => {
      const symbol = `${"-".repeat(n % 4)}${String.fromCharCode(65 + n % 26)}${n}-USDT`;
      n++;
      return worst.get(
        `/api/market-data/ticks?symbol=${symbol}&exchange=BINANCE&startDate=2024-01-01&endDate=2024-03-01&timeframe=1h`,
      );
    });
  },
  "a fat catalogue": async ({ worst, other }) => {
    const artifact = artifactOf(strategyWat({}));
    const parameter_schema = { type: "object", description: "x".repeat(ENTRY_BYTES) };
    let n = 0;
    const registered = await countStatuses(ENTRIES, () => {
      n++;
      return tryRegister(worst, `fat-${n}`, { artifact }, { is_public: true, parameter_schema });
    });
    return `registered ${registered}; read ${await countStatuses(ENTRIES, () => other.get("/api/strategies"))}`;
  },
};

/** Sends requests at once. @returns How many had which status. */
async function countStatuses(count: number, send: () => Promise<{ readonly status: number }>): Promise<string> {
  const counts = new Map<number, number>();
  for (const { status } of await Promise.all(Array.from({ length: count }, send))) {
    counts.set(status, (counts.get(status) ?? 0) + 1);
  }
  return [...counts].map(([status, times]) => `${times} x ${status}`).join(", ");
}

async function submit(client: TestClient, more: object): Promise<unknown> {
  const answer = await client.send("POST", "/api/backtests", {
    backtest: { ...YEAR, initial_balance: 10_000, fresh: true, ...more },
  });
  if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
  return answer.at("/backtest/id");
}

async function run(client: TestClient, more: object) {
  const ended = await client.finish(await submit(client, more));
  const error = ended.at("/backtest/error");
  if (error !== null) throw new Error(`Cannot finish: ${JSON.stringify(error)}`);
  return ended;
}

function artifactOf(text: string) {
  return { content_base64: compileWat(text).toBase64() };
}

function tryRegister(client: TestClient, slug: string, source: object, more: object = {}) {
  const strategy = {
    slug,
    name: slug,
    description: "",
    runtime_type: "wasm",
    language: "wat",
    lookback_candles: 1,
    parameter_schema: { type: "object" },
    initial_version: { version: "1.0", runtime_config: { type: "wasm", ...source } },
    ...more,
  };
  return client.send("POST", "/api/strategies", { strategy });
}

async function register(client: TestClient, slug: string, source: object, more: object = {}): Promise<void> {
  const answer = await tryRegister(client, slug, source, more);
  if (answer.status !== 201) throw new Error(`Cannot register ${slug}: ${answer.status} ${answer.text}`);
}

/** A module, as text, that places limit orders far below the price at each candle, for one candle each. */
function manyOrders(count: number): string {
  return `(module
    (memory (export "memory") 1)
    (global $free (mut i32) (i32.const 8192))
    (func (export "abi_version") (result i32) (i32.const 1))
    (func (export "alloc") (param $size i32) (result i32) (local $block i32) (local $missing i32)
      (local.set $block (global.get $free))
      (global.set $free (i32.add (local.get $block) (i32.and (i32.add (local.get $size) (i32.const 7)) (i32.const -8))))
      (local.set $missing (i32.sub
        (i32.shr_u (i32.add (global.get $free) (i32.const 65535)) (i32.const 16)) (memory.size)))
      (if (i32.gt_s (local.get $missing) (i32.const 0)) (then (drop (memory.grow (local.get $missing)))))
      (local.get $block))
    (func (export "init") (param $frame i32) (result i32) (i32.const 0))
    (func (export "on_candle") (param $frame i32) (result i32) (local $order i32) (local $k i32)
      (local.set $order (i32.load offset=56 (local.get $frame)))
      (loop $next
        (i32.store (local.get $order) (i32.const 1))
        (i32.store offset=4 (local.get $order) (i32.const 1))
        (i32.store offset=8 (local.get $order) (i32.const 1))
        (i32.store offset=12 (local.get $order) (i32.const 1))
        (f64.store offset=16 (local.get $order) (f64.const 1))
        (f64.store offset=24 (local.get $order) (f64.const 0.01))
        (i32.store offset=88 (local.get $order) (i32.const 1))
        (local.set $order (i32.add (local.get $order) (i32.const 112)))
        (local.set $k (i32.add (local.get $k) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $k) (i32.const ${count}))))
      (i32.const ${count})))`;
}
