import { expect } from "@std/expect";
import { packEquity, unpackEquity } from "../../../db/codec/marked_equity.ts";
import type { Columns } from "../../../db/codec/packed_columns.ts";
import type { Balances } from "../../../engine/balance_log.ts";
import { run } from "../../../engine/run.ts";
import { randomRun } from "../../engine/properties/random_run.ts";
import { storeCurve } from "../../support/stored_curves.ts";

const ROWS = 20_000;
const RUNS = 500;
const time = Float64Array.from({ length: ROWS }, (_, i) => Date.UTC(2024, 0, 1) + i * 60_000);
// Prices on ticks of a cent, and quantities and cash with all their digits.
const close = time.map((_, i) => (4_000_000 + (i * 7_919) % 100_003) / 100);
const piece = (i: number, rows: number) => Math.floor(i / rows);

/** A curve whose position and cash change every `rows` rows, and its balances. */
function curveOf(rows: number, unitsOf: (piece: number) => number, cashOf: (piece: number) => number) {
  const position = time.map((_, i) => unitsOf(piece(i, rows)));
  const equity = time.map((_, i) => cashOf(piece(i, rows)) + position[i]! * close[i]!);
  const from = Int32Array.from({ length: Math.ceil(ROWS / rows) }, (_, k) => k * rows);
  const balances = {
    from,
    cash: Float64Array.from(from.keys(), cashOf),
    units: Float64Array.from(from.keys(), unitsOf),
  };
  return { curve: { time, equity, position, close }, balances };
}

const CURVES = {
  "long with all its money": curveOf(333, (k) => 10_000 / (40_000 + k / 7), (k) => k / 1e13),
  "long with borrowed money": curveOf(333, (k) => 1 / (3 + k / 7), (k) => -2_000 / (1 + k / 11)),
  "long with a little": curveOf(333, (k) => 0.01 / (3 + k / 7), (k) => 10_000 + k / 3),
  "short": curveOf(333, (k) => -1 / (4 + k / 7), (k) => 20_000 + k / 3),
  "in and out": curveOf(50, (k) => k % 2 / 7, (k) => 10_000 / (k % 2 + 1) + k / 3),
  "cash that changes while the position stays": curveOf(40, () => 0.1 / 3, (k) => 1_000 / 3 - k / 7),
  "below zero": curveOf(100, (k) => 1 / (3 + k), (k) => -20_000 - k / 3),
  "ruined": curveOf(10_000, (k) => k === 0 ? 0.1 / 3 : 0, (k) => k === 0 ? -1_000 / 3 : 0),
};

for (const [name, { curve, balances }] of Object.entries(CURVES)) {
  Deno.test(`equity that is marked at closes is packed as balances and comes back to the bit: ${name}`, () => {
    const { close: _close, ...plain } = curve;
    const packed = packEquity(curve, 0, balances);
    expect(Object.keys(packed).sort()).toEqual(["cash", "close", "from", "time", "units"]);
    expect(packed.cash!.length).toBe(balances.from.length);
    expect(unpackEquity(packed)).toEqual(plain);
  });

  Deno.test(`equity that an earlier version packed as cash at each close comes back: ${name}`, () => {
    const { close, position, equity: _equity } = curve;
    const cash = new Float64Array(ROWS);
    balances.from.forEach((row, k) => cash.fill(balances.cash[k]!, row));
    const { close: _close, ...plain } = curve;
    expect(unpackEquity({ time, position, close, cash })).toEqual(plain);
  });
}

Deno.test("equity stays as it is where closes and balances do not give it back", () => {
  const { curve, balances } = CURVES.short;
  const { close: _close, ...plain } = curve;
  const { equity } = curve;
  const flat = { from: Int32Array.of(0), cash: Float64Array.of(0), units: Float64Array.of(0) };
  const sign = equity.map(() => 0);
  sign[7] = -0;
  const refused: [name: string, columns: Columns, balances?: Balances][] = [
    ["without closes", plain, balances],
    ["without balances", curve],
    ["with cash of its own in every row", { ...curve, equity: equity.map((value, i) => value + i / 3) }, balances],
    ["with a value that is no number", { ...curve, equity: equity.map((value, i) => i === 5 ? NaN : value) }, balances],
    ["with an infinite value", { ...curve, equity: equity.map((value, i) => i === 5 ? Infinity : value) }, balances],
    ["with a value in the last digit", { ...curve, equity: equity.with(500, equity[500]! * (1 + 2 ** -52)) }, balances],
    ["with another position", { ...curve, position: curve.position.with(500, 1) }, balances],
    ["with the sign of a zero", { ...curve, equity: sign, position: equity.map(() => 0) }, flat],
    ["with the sign of no position", { ...curve, equity: equity.map(() => 0), position: sign }, flat],
    ["with a close that is no number", { ...curve, close: close.map((value, i) => i === 5 ? NaN : value) }, balances],
    ["with balances that begin late", curve, { ...balances, from: balances.from.map((row) => row + 1) }],
    ["with balances that go back", curve, { ...balances, from: balances.from.toReversed() }],
    ["with balances that end early", curve, { ...balances, from: Int32Array.of(), cash: balances.cash.slice(0, 0) }],
  ];
  for (const [name, columns, given] of refused) {
    const packed = packEquity(columns, 0, given);
    expect([name, packed]).toEqual([name, { time, equity: columns.equity, position: columns.position }]);
    expect(unpackEquity(packed)).toBe(packed);
  }
});

Deno.test("a stretch that begins and ends between two changes comes back, and a short one, too", () => {
  for (const { curve, balances } of Object.values(CURVES)) {
    for (const [begin, end] of [[0, 0], [0, 1], [7, 8], [300, 333], [333, 666], [40, 19_999]] as const) {
      const cut = (values: Float64Array) => values.slice(begin, end);
      const plain = { time: cut(time), equity: cut(curve.equity), position: cut(curve.position) };
      expect(unpackEquity(packEquity({ ...plain, close: cut(close) }, begin, balances))).toEqual(plain);
    }
  }
});

Deno.test("the curves of random runs are stored as their balances, and come back to the bit", () => {
  let rows = 0;
  for (let n = 0; n < RUNS; n++) {
    const input = randomRun(3, n);
    const result = run(input);
    const { curve, isPacked } = storeCurve(result, input);
    const expected = {
      time: input.candles.time.slice(input.firstIndex),
      equity: result.equity,
      position: result.position,
    };
    expect([n, isPacked, curve]).toEqual([n, true, expected]);
    rows += result.equity.length;
  }
  expect(rows).toBeGreaterThan(RUNS);
});
