import { expect } from "@std/expect";
import { formatTable, type Row } from "../../bench/table.ts";

Deno.test("formatTable() gives ours, the reference, their ratio, and whether the goal is met", () => {
  const rows: Row[] = [
    { measure: "slow", ours: 30, reference: { name: "the least", value: 10 }, goal: { of: "ratio", most: 2 } },
    { measure: "enough", ours: 900, unit: "a second", goal: { of: "ours", least: 800 } },
    { measure: "no goal", ours: 1.5 },
  ];
  const lines = formatTable(rows, { hasHead: true }).split("\n").map((line) => line.replaceAll(/ {2,}/g, " | "));
  expect(lines).toEqual([
    "measure | ours | reference | ratio | goal",
    "slow | 30.0 ms | 10.0 ms: the least | 3.00 x | at most 2 x: missed",
    "enough | 900 a second | at least 800 a second",
    "no goal | 1.50 ms",
  ]);
});
