import { expect } from "@std/expect";
import { writePercent, writeRatio } from "../../../research/luck/figures.ts";
import { formatPercent, formatRatio } from "../../../web/src/parts/format.ts";

Deno.test("figures in sentences are written as the console writes them beside the sentences", () => {
  for (const value of [-1.214, 0.36, 0, -0.000_01, 12.345_67, 1, -0.5]) {
    expect(writeRatio(value)).toBe(formatRatio(value));
    expect(writePercent(value)).toBe(formatPercent(value));
  }
  expect([writeRatio(-1.214), writePercent(0.36), writePercent(-12.345)]).toEqual(["−1.21", "36.00%", "−1,234.50%"]);
});
