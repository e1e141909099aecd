import { expect } from "@std/expect";
import { settingsThatDiffer } from "../../web/src/pages/runs/settings_that_differ.ts";

Deno.test("runs of a strategy are told apart by the settings that differ", () => {
  const run = (id: string, strategy: string, settings: Record<string, number | string>) => ({ id, strategy, settings });
  const words = settingsThatDiffer([
    run("a", "SMA Cross", { fast: 5, slow: 30, direction: "both" }),
    run("b", "RSI Reversion", { period: 14 }),
    run("c", "SMA Cross", { fast: 10, slow: 30, direction: "both" }),
    run("d", "SMA Cross", { fast: 10, slow: 30, direction: "both", stopLossLevel: 0.02 }),
  ]);
  expect(Object.fromEntries(words)).toEqual({
    a: "fast 5",
    b: "",
    c: "fast 10",
    d: "fast 10, stopLossLevel 0.02",
  });
});
