import { expect } from "@std/expect";
import { encodeColumns } from "../../../db/codec/columns.ts";
import { packEquity, unpackEquity } from "../../../db/codec/marked_equity.ts";

const ROWS = 20_000;
const time = Float64Array.from({ length: ROWS }, (_, i) => Date.UTC(2024, 0, 1) + i * 60_000);
// Prices on ticks of a cent, and quantities and cash with all their digits.
const close = time.map((_, i) => (4_000_000 + (i * 7_919) % 100_003) / 100);
const piece = (i: number, rows: number) => Math.floor(i / rows);

/** A curve whose position and cash change every so many rows. */
function curveOf(rows: number, unitsOf: (piece: number) => number, cashOf: (piece: number) => number) {
  const position = time.map((_, i) => unitsOf(piece(i, rows)));
  const equity = time.map((_, i) => cashOf(piece(i, rows)) + position[i]! * close[i]!);
  return { time, equity, position, close };
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

for (const [name, curve] of Object.entries(CURVES)) {
  Deno.test(`equity that is marked at closes is packed as cash and comes back to the bit: ${name}`, () => {
    const packed = packEquity(curve);
    expect(Object.keys(packed).sort()).toEqual(["cash", "close", "position", "time"]);
    expect(unpackEquity(packed)).toEqual(curve.equity);
    const { close: _close, ...plain } = curve;
    expect(encodeColumns(packed).length).toBeLessThan(encodeColumns(plain).length / 2);
  });
}

Deno.test("equity stays as it is where closes do not give it back", () => {
  const curve = CURVES.short;
  const { close: _close, ...plain } = curve;
  const bent = curve.equity.slice();
  const sign = curve.equity.map(() => 0);
  sign[7] = -0;
  const refused = {
    "without closes": plain,
    "with cash of its own in every row": { ...curve, equity: curve.equity.map((value, i) => value + i / 3) },
    "with a value that is no number": { ...curve, equity: bent.map((value, i) => i === 5 ? NaN : value) },
    "with a value beyond all numbers": { ...curve, equity: bent.map((value, i) => i === 5 ? Infinity : value) },
    "with the sign of a zero": { ...curve, equity: sign, position: sign.map(() => 0) },
    "with a close that is no number": { ...curve, close: close.map((value, i) => i === 5 ? NaN : value) },
  };
  for (const columns of Object.values(refused)) {
    const packed = packEquity(columns);
    expect(packed).toEqual({ time, equity: columns.equity, position: columns.position });
    expect(unpackEquity(packed)).toBe(packed.equity);
  }
});

Deno.test("a value in the last digit that cash and closes do not explain is kept", () => {
  const curve = CURVES["long with all its money"];
  const equity = curve.equity.slice();
  equity[500] = equity[500]! * (1 + 2 ** -52);
  const packed = packEquity({ ...curve, equity });
  expect(unpackEquity(packed)).toEqual(equity);
});

Deno.test("a short stretch comes back, too", () => {
  const { time, equity, position, close } = CURVES.short;
  for (const rows of [0, 1, 300]) {
    const cut = { time: time.slice(0, rows), equity: equity.slice(0, rows), position: position.slice(0, rows) };
    expect(unpackEquity(packEquity({ ...cut, close: close.slice(0, rows) }))).toEqual(cut.equity);
  }
});
