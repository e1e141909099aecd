/** The editor's knowledge of the language of scripts. */
import { expect } from "@std/expect";
import { describeIndicators } from "../../workers/sandbox/contracts/indicators.ts";
import { readDeclaration } from "../../web/src/pages/strategies/editor/declaration.ts";

const text = await Deno.readTextFile(new URL("../../strategies/scripts/strategy.d.ts", import.meta.url));
const { globals, members, parameters } = readDeclaration(text);

Deno.test("the editor knows each global of scripts, and only those", () => {
  const own = ["strategy", "portfolio", "plot", "utc", "resample", "crossesAbove", "crossesBelow", "console"];
  const names = [...own, ...describeIndicators().map(({ name }) => name)];
  expect(globals.map(({ name }) => name).sort()).toEqual(names.sort());
});

Deno.test("the editor shows a declaration in one line with its words", () => {
  const found = globals.filter(({ name }) => name === "utc" || name === "sma");
  expect(found).toEqual([
    {
      name: "utc",
      signature:
        "utc(time: number): { year: number; month: number; day: number; weekday: number; hour: number; minute: number }",
      doc: "The parts of a time, in UTC: month 1 to 12, weekday 0 (Sunday) to 6.",
    },
    {
      name: "sma",
      signature: "sma(values: Column, period: number): Column",
      doc: "Mean of the last `period` values.",
    },
  ]);
});

Deno.test("the editor knows what decide receives, and inherited options of an order", () => {
  expect([...parameters]).toEqual([
    ...[["candles", "Candles"], ["account", "Account"], ["orders", "Orders"]],
    ...[["fill", "Fill"], ["trade", "ClosedTrade"]],
  ]);
  expect(members.get("Account")?.map(({ name }) => name)).toEqual([
    ...["cash", "equity", "quantity", "entryPrice", "initialBalance", "closedTrades"],
  ]);
  const options = members.get("OrderOptions")?.map(({ name }) => name);
  expect(options).toEqual(expect.arrayContaining(["limitPrice", "sizeBy", "tag", "stopLossFraction"]));
  expect(members.get("Orders")?.find(({ name }) => name === "protect")?.doc).toMatch(/^Sets the stop loss/);
});
