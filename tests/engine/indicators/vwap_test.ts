import { expect } from "@std/expect";
import { anchoredVwap, type PricesAndVolume, vwap } from "../../../engine/indicators/vwap.ts";
import { walk } from "./prices.ts";

/** Candles whose typical price is the price. */
function at(prices: readonly number[], volumes: readonly number[]): PricesAndVolume {
  const column = Float64Array.from(prices);
  return { high: column, low: column, close: column, volume: Float64Array.from(volumes) };
}

/** The definition, over some candles. */
function naive({ high, low, close, volume }: PricesAndVolume, from: number, until: number): [number, number] {
  const rows = Array.from({ length: until - from }, (_, n) => {
    const i = from + n;
    return { price: (high[i]! + low[i]! + close[i]!) / 3, volume: volume[i]! };
  });
  const total = rows.reduce((sum, row) => sum + row.volume, 0);
  const mean = rows.reduce((sum, row) => sum + row.price * row.volume, 0) / total;
  return [mean, Math.sqrt(rows.reduce((sum, row) => sum + row.volume * (row.price - mean) ** 2, 0) / total)];
}

function randomCandles(count: number): PricesAndVolume {
  const low = walk(count);
  const high = low.map((price, i) => price + (i * 7 % 5) / 10);
  return { high, low, close: low, volume: walk(count, 99).map((value, i) => i % 11 === 3 ? 0 : value) };
}

Deno.test("vwap() of 10 with one and 20 with three units is 17.5, with a deviation of the root of 18.75", () => {
  const { mean, deviation } = vwap(at([10, 20, 20], [1, 3, 5]), 2);
  expect([...mean]).toEqual([NaN, 17.5, 20]);
  expect([...deviation]).toEqual([NaN, Math.sqrt(18.75), 0]);
});

Deno.test("vwap() agrees with its definition in every window, candles without volume included", () => {
  const candles = randomCandles(300);
  for (const period of [1, 2, 20, 77, 300]) {
    const { mean, deviation } = vwap(candles, period);
    expect(new Set([...mean.subarray(0, period - 1), NaN])).toEqual(new Set([NaN]));
    for (let i = period - 1; i < 300; i++) {
      const [price, spread] = naive(candles, i - period + 1, i + 1);
      if (Number.isNaN(price)) {
        expect([mean[i], deviation[i]]).toEqual([NaN, NaN]);
        continue;
      }
      expect(mean[i]).toBeCloseTo(price, 9);
      expect(deviation[i]).toBeCloseTo(spread, 8);
    }
  }
});

Deno.test("vwap() of equal prices is that price with a deviation of exactly zero, and without volume it is NaN", () => {
  const prices = Array(40).fill(0.25);
  const { mean, deviation } = vwap(at(prices, prices.map((_, i) => 1 + i % 3)), 7);
  expect(new Set(mean.subarray(6))).toEqual(new Set([0.25]));
  expect(new Set(deviation.subarray(6))).toEqual(new Set([0]));
  expect([...vwap(at([5, 5, 5], [1, 0, 0]), 2).mean]).toEqual([NaN, 5, NaN]);
});

Deno.test("anchoredVwap() begins anew at each anchor", () => {
  const candles = randomCandles(100);
  const anchors = Float64Array.from({ length: 100 }, (_, i) => i < 5 ? 1 : (i - 5) % 30);
  const { mean, deviation } = anchoredVwap(candles, anchors);
  expect([...mean.subarray(0, 5)]).toEqual(Array(5).fill(NaN));
  for (let i = 5; i < 100; i++) {
    const [price, spread] = naive(candles, i - (i - 5) % 30, i + 1);
    expect(mean[i]).toBeCloseTo(price, 9);
    expect(deviation[i]).toBeCloseTo(spread, 8);
  }
});
