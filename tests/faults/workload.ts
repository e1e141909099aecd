import { expect } from "@std/expect";
import type { TestClient } from "../support/client.ts";

const MODULE = new URL("../../strategies/examples/c/sma_cross.wasm", import.meta.url);
const SLUG = "module-cross";

interface Variant {
  readonly strategy: string;
  readonly end_date: string;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const crossing = (fast: number): Variant => ({
  strategy: "SMA Cross",
  end_date: "2024-05-01",
  parameters: { timeframe: "1m", fast, slow: 2000 },
});
/** Markets of one account, some of which end early. */
const instruments = ["ALDER", "ASPEN", "BEECH", "DEMO", "OAK", "PINE", "ROWAN"].map((symbol) => ({
  symbol,
  exchange: "SAMPLE",
}));
/** The different backtests: built-in ones over one market, both kinds over many, and one in a sandbox process. */
const VARIANTS: readonly Variant[] = [
  ...[crossing(200), crossing(201), crossing(202)],
  {
    strategy: "Momentum Rotation",
    end_date: "2024-12-01",
    parameters: { timeframe: "1d", instruments, every: "week", lookback: 60, top: 2, filter: -1 },
  },
  {
    strategy: "SMA Cross",
    end_date: "2024-12-01",
    parameters: { timeframe: "1d", instruments, fast: 5, slow: 20, portfolio: { positions_max: 3 } },
  },
  { strategy: SLUG, end_date: "2024-07-01", parameters: { timeframe: "1h", fast: 12, slow: 48, direction: "both" } },
];

/** The request of a variant. */
export function variantRequest(variant: number): { readonly backtest: Readonly<Record<string, unknown>> } {
  const run = { symbol: "DEMO", exchange: "SAMPLE", start_date: "2024-01-01", initial_balance: 10_000, fresh: true };
  return { backtest: { ...run, ...VARIANTS[variant] } };
}

/** Registers the module that the last variant runs. */
async function registerModule(client: TestClient): Promise<void> {
  const content_base64 = (await Deno.readFile(MODULE)).toBase64();
  const integer = (value: number) => ({ type: "integer", default: value });
  const strategy = {
    slug: SLUG,
    name: SLUG,
    description: "",
    runtime_type: "wasm",
    language: "c",
    lookback_candles: 200,
    parameter_schema: { type: "object", properties: { fast: integer(10), slow: integer(30) } },
    initial_version: { version: "1.0", runtime_config: { type: "wasm", artifact: { content_base64 } } },
  };
  let answer = await client.send("POST", "/api/strategies", { strategy });
  // Workers of a busy machine check late.
  while (answer.status === 503) answer = await client.send("POST", "/api/strategies", { strategy });
  if (answer.status !== 201) throw new Error(`Cannot register the module: ${answer.status} ${answer.text}`);
}

/** The answers for a run of each variant without faults, as text. */
export async function runClean(client: TestClient): Promise<string[]> {
  await registerModule(client);
  const ids: unknown[] = [];
  for (let variant = 0; variant < VARIANTS.length; variant++) {
    const answer = await client.send("POST", "/api/backtests", variantRequest(variant));
    if (answer.status !== 202) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
    ids.push(answer.at("/backtest/id"));
  }
  for (const id of ids) await client.finish(id);
  const results = await Promise.all(ids.map((id) => readResult(client, id)));
  expect(new Set(results).size).toBe(VARIANTS.length);
  for (const result of results) expect(result).toMatch(/^completed .*"trades":[1-9]/);
  return results;
}

/** A record's status, result, trades, orders and equity, without the run's duration. */
export async function readResult(client: TestClient, id: unknown): Promise<string> {
  const record = await client.get(`/api/backtests/${id}`);
  const result = { ...Object(record.at("/backtest/result")), duration_ms: 0 };
  const parts = [`${record.at("/backtest/status")} ${JSON.stringify(result)}`];
  for (const part of ["trades?limit=200", "equity?points=2000", "orders?limit=200"]) {
    parts.push((await client.get(`/api/backtests/${id}/${part}`)).text);
  }
  return parts.join("\n");
}

/** A scenario's backtests. */
export interface Submitted {
  /** The variant of each accepted backtest by its id. */
  readonly accepted: ReadonlyMap<string, number>;
  /** Submissions whose answer a fault prevented: those that exist end like the others. */
  readonly unanswered: number;
}

/** The submissions of a scenario. */
export class Submissions implements Submitted {
  readonly accepted = new Map<string, number>();
  unanswered = 0;
  #next = 0;

  /** Submits the next variant. @returns True if it was accepted. */
  async submit(client: TestClient): Promise<boolean> {
    const variant = this.#next++ % VARIANTS.length;
    try {
      const answer = await client.send("POST", "/api/backtests", variantRequest(variant));
      if (answer.status === 202) {
        this.accepted.set(String(answer.at("/backtest/id")), variant);
        return true;
      }
      if (answer.status < 500) throw new Error(`Cannot submit: ${answer.status} ${answer.text}`);
    } catch (error) {
      // The process was killed before its answer.
      if (!(error instanceof TypeError)) throw error;
    }
    this.unanswered++;
    return false;
  }
}
