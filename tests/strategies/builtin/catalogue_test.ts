import { BufferPool, buffersOf } from "../../../engine/buffer_pool.ts";
import { bytesOf } from "../../engine/properties/bytes.ts";
import { expect } from "@std/expect";
import { resolveExecution } from "../../../engine/execution.ts";
import { run } from "../../../engine/run.ts";
import { BUILTINS, findBuiltin } from "../../../strategies/builtin/catalogue.ts";
import type { ParameterProperty } from "../../../strategies/builtin/builtin.ts";
import { candlesOf, parametersOf, type Row } from "./play.ts";

/** A seeded walk that trends and turns, so that every strategy trades. */
function wander(count: number): Row[] {
  let state = 7;
  let price = 100;
  return Array.from({ length: count }, (_, i): Row => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const open = price;
    price = Math.max(20, price + Math.sin(i / 15) + ((state >>> 16) % 401 - 200) / 100);
    return [open, Math.max(open, price) + 0.5, Math.min(open, price) - 0.5, price];
  });
}

function takes(property: ParameterProperty, value: unknown): boolean {
  if (property.type === "string") return typeof value === "string" && (property.enum ?? []).includes(value);
  if (property.type === "boolean") return typeof value === "boolean";
  if (typeof value !== "number") return false;
  return (property.type === "number" || Number.isInteger(value)) &&
    value >= (property.minimum ?? -Infinity) && value <= (property.maximum ?? Infinity) &&
    value > (property.exclusiveMinimum ?? -Infinity);
}

Deno.test("the catalogue holds twenty strategies, each found by its slug", () => {
  expect(BUILTINS.map((builtin) => builtin.slug)).toEqual([
    ...["buy-and-hold", "sma-cross", "ema-cross", "macd", "rsi-reversion", "bollinger-reversion"],
    ...["donchian-breakout", "atr-trend", "dca", "grid", "adx-trend", "supertrend", "ichimoku", "turtle"],
    ...["opening-range-breakout", "stochastic", "keltner-reversion", "vwap-reversion", "zscore-reversion"],
    ...["volatility-target"],
  ]);
  for (const builtin of BUILTINS) expect(findBuiltin(builtin.slug)).toBe(builtin);
  expect(findBuiltin("martingale")).toBeUndefined();
});

for (const builtin of BUILTINS) {
  Deno.test(`${builtin.slug} has bounds for each parameter, and defaults within them`, () => {
    for (const property of Object.values(builtin.parameter_schema.properties)) {
      expect(takes(property, property.default)).toBe(true);
      expect(property.description.length).toBeGreaterThan(10);
      if (property.type === "string" || property.type === "boolean") continue;
      expect(property.minimum ?? property.exclusiveMinimum).toBeDefined();
      expect(property.maximum).toBeDefined();
    }
    expect(builtin.parameter_schema.additionalProperties).toBe(false);
  });

  Deno.test(`${builtin.slug} requests the history that its defaults need`, () => {
    const { warmup, lookback = warmup } = builtin.create(parametersOf(builtin));
    expect(builtin.lookback_candles).toBeGreaterThanOrEqual(lookback - 1);
    expect(builtin.min_candles).toBeLessThanOrEqual(warmup);
  });

  Deno.test(`${builtin.slug} makes the same decisions with the requested history as with all of it`, () => {
    const candles = candlesOf(wander(1200));
    const { warmup, lookback = warmup } = builtin.create(parametersOf(builtin));
    const ordersFrom = (start: number, history: number) => {
      const cut = (column: Float64Array) => column.subarray(start - history);
      const { time, open, high, low, close, volume } = candles;
      const { orders: { time: placed, side, type } } = run({
        candles: {
          time: cut(time),
          open: cut(open),
          high: cut(high),
          low: cut(low),
          close: cut(close),
          volume: cut(volume),
        },
        firstIndex: history,
        timeframeMs: 3_600_000,
        initialBalance: 1000,
        execution: resolveExecution({}, "crypto"),
        strategy: builtin.create(parametersOf(builtin)),
        control: null,
      });
      return [[...placed], [...side], [...type]];
    };
    for (let start = 600; start < 1000; start += 20) {
      expect(ordersFrom(start, Math.min(lookback, start))).toEqual(ordersFrom(start, start));
    }
  });

  Deno.test(`${builtin.slug} trades with its defaults, and prepare() resets it`, () => {
    const input = {
      candles: candlesOf(wander(600)),
      firstIndex: 0,
      timeframeMs: 3_600_000,
      initialBalance: 1000,
      execution: resolveExecution({}, "crypto"),
      strategy: builtin.create(parametersOf(builtin)),
      control: null,
    };
    const first = run(input);
    const second = run(input);
    expect(first.trades.count).toBeGreaterThan(0);
    expect(first.orders.count).toBeGreaterThan(0);
    expect(second).toEqual(first);
    // A longer run leaves its memory, with other values, to the next one.
    const pool = new BufferPool(2 ** 20, 1);
    const other = buffersOf(run({ ...input, candles: candlesOf(wander(500)), pool }));
    pool.reclaim(other);
    for (const buffer of other) {
      new Uint8Array(buffer).fill(0x55);
      pool.add(buffer);
    }
    expect(bytesOf(run({ ...input, candles: candlesOf(wander(400)), pool }))).toBe(
      bytesOf(run({ ...input, candles: candlesOf(wander(400)) })),
    );
  });
}
