/** The worst that one user can do to a service, besides reading what is long: each act is one of them. */
import type { TestClient } from "../tests/support/client.ts";
import { compileWat, strategyWat } from "../tests/workers/sandbox/wasm/modules.ts";
import type { Users } from "./others.ts";

const HOUR_MS = 3_600_000;
const YEAR = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", end_date: "2025-01-01" };
const SIGN_INS = 250;
const MODULES = 20;
const CHECKED_CANDLES = 20_000;
const SYMBOLS = 200;
const ENTRIES = 49;
const ENTRY_BYTES = 60_000;
/** Limit orders far below the price, for one candle each. */
const MANY_ORDERS = `strategy(() => ({
  decide: (i, candles, account, orders) => {
    for (let n = 0; n < 3; n++) orders.buy({ size: 1, limitPrice: 0.01, candlesMax: 1 });
  },
}));`;

/** An exchange that has hours of one price for every symbol. */
export function startFeed(): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const query = new URL(url).searchParams;
    const [from, until] = [Number(query.get("startTime")), Number(query.get("endTime"))];
    const rows = [];
    for (let time = Math.ceil(from / HOUR_MS) * HOUR_MS; time <= until && rows.length < 1000; time += HOUR_MS) {
      rows.push([time, "5", "5", "5", "5", "1", time + HOUR_MS - 1, "0", 1, "0", "0", "0"]);
    }
    return Response.json(rows);
  });
}

/** By name; each returns a note on the outcome. */
export const ACTS: Readonly<Record<string, (users: Users) => Promise<string>>> = {
  "wrong sign-ins at once": async ({ reader }) => {
    const body = { email: "nobody@example.com", password: "not the password" };
    return await countStatuses(SIGN_INS, () => reader.send("POST", "/api/auth/sign-in/email", body));
  },
  "storing trades": ({ reader }) => run(reader, "SMA Cross", { timeframe: "1m", fast: 1, slow: 2 }),
  "storing orders": ({ reader }) =>
    run(reader, "orders", { timeframe: "1m", runtime: { type: "script", source: MANY_ORDERS } }),
  "endless modules": async ({ reader, other }) => {
    // The check of a registration runs a few hundred candles.
    const endless = strategyWat({
      before: "(global $n (mut i32) (i32.const 0))",
      onCandle: `(global.set $n (i32.add (global.get $n) (i32.const 1)))
        (loop $again (br_if $again (i32.gt_u (global.get $n) (i32.const ${CHECKED_CANDLES})))) (i32.const 0)`,
    });
    const { status, text } = await register(reader, "endless", endless);
    if (status !== 201) throw new Error(`Cannot register: ${status} ${text}`);
    const submitting = Array.from({ length: MODULES }, () => submit(reader, "endless", { timeframe: "1d" }));
    const submitted = await Promise.all(submitting);
    const ended = await run(other, "SMA Cross", { timeframe: "1d" });
    await Promise.all(submitted.map((id) => reader.send("POST", `/api/backtests/${id}/cancel`)));
    return `another's ${ended}`;
  },
  "symbols and their spellings": async ({ reader }) => {
    const query = "exchange=BINANCE&startDate=2024-01-01&endDate=2024-03-01&timeframe=1h";
    return await countStatuses(SYMBOLS, (n) => {
      const symbol = `${"-".repeat(n % 4)}${String.fromCharCode(65 + n % 26)}${n}-USDT`;
      return reader.get(`/api/market-data/ticks?symbol=${symbol}&${query}`);
    });
  },
  "a fat catalogue": async ({ reader, other }) => {
    const parameter_schema = { type: "object", description: "x".repeat(ENTRY_BYTES) };
    const more = { is_public: true, parameter_schema };
    const registered = await countStatuses(ENTRIES, (n) => register(reader, `fat-${n}`, strategyWat({}), more));
    return `registered ${registered}; read ${await countStatuses(ENTRIES, () => other.get("/api/strategies"))}`;
  },
};

/** Sends requests at once. @returns How many had which status. */
async function countStatuses(count: number, send: (n: number) => Promise<{ readonly status: number }>) {
  const answers = await Promise.all(Array.from({ length: count }, (_, n) => send(n)));
  const statuses = Map.groupBy(answers, ({ status }) => status);
  return [...statuses].map(([status, { length }]) => `${length} x ${status}`).join(", ");
}

async function submit(client: TestClient, strategy: string, parameters: object): Promise<unknown> {
  const backtest = { ...YEAR, initial_balance: 10_000, fresh: true, strategy, parameters };
  const submitted = await client.send("POST", "/api/backtests", { backtest });
  if (submitted.status !== 202) throw new Error(`Cannot submit: ${submitted.status} ${submitted.text}`);
  return submitted.at("/backtest/id");
}

/** @returns How the run ended. */
async function run(client: TestClient, strategy: string, parameters: object): Promise<string> {
  const ended = await client.finish(await submit(client, strategy, parameters));
  return String(ended.at("/backtest/error") === null ? "completed" : ended.at("/backtest/error/code"));
}

function register(client: TestClient, slug: string, module: string, more: object = {}) {
  const artifact = { content_base64: compileWat(module).toBase64() };
  const strategy = {
    ...{ slug, name: slug, description: "", runtime_type: "wasm", language: "wat" },
    ...{ lookback_candles: 1, parameter_schema: { type: "object" } },
    initial_version: { version: "1.0", runtime_config: { type: "wasm", artifact } },
    ...more,
  };
  return client.send("POST", "/api/strategies", { strategy });
}
