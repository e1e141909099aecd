/** What README.md says of results is held to the engine. */
import { expect } from "@std/expect";
import {
  BOTH_TOUCHED,
  CLOSES_AT_END,
  EXCLUSIVES,
  FILLS,
  FRACTIONS_OF,
  LIMIT_FILLS,
  PROFILE_DEFAULTS,
  PROFILES,
  SIZING_FEES,
  SIZING_MARKS,
  SIZING_PRICES,
  SIZING_TYPES,
  SPREADS_ON,
  STOP_GAPS,
} from "../../engine/execution.ts";
import { METRIC_DEFINITIONS } from "../../engine/metrics/definitions.ts";
import { readPage, rowsOf } from "../support/pages.ts";

const ROWS = rowsOf(await readPage("README.md"));

/** The assumptions that are one of several names. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  profile: PROFILES,
  fill: FILLS,
  sizing: SIZING_TYPES,
  fractionOf: FRACTIONS_OF,
  sizingPrice: SIZING_PRICES,
  sizingMark: SIZING_MARKS,
  sizingFee: SIZING_FEES,
  spreadOn: SPREADS_ON,
  limitFill: LIMIT_FILLS,
  stopGap: STOP_GAPS,
  bothTouched: BOTH_TOUCHED,
  entryCandleExit: ["true", "false", "same_direction"],
  exclusive: EXCLUSIVES,
  closeAtEnd: CLOSES_AT_END,
};

Deno.test("the page defines every metric as the engine does", () => {
  const metrics = Object.entries(METRIC_DEFINITIONS)
    .map(([name, { definition, unit, sample }]) => [`\`${name}\``, unit, definition, sample]);
  expect(ROWS.filter((row) => row.length === 4)).toEqual(metrics);
});

Deno.test("the page names every assumption with its default and all that it may be", () => {
  const codes = (cell = "") => cell.matchAll(/`([^`]+)`/g).map(([, code = ""]) => code).toArray();
  const named = ROWS.filter((row) => row.length === 3 && /^`[a-z]\w*`/.test(row[0]!))
    .flatMap(([keys, defaults, text]) =>
      codes(keys).map((key, k) => ({ key, value: codes(defaults)[k], row: `${defaults} ${text}` }))
    );
  const { commission: _rates, periodsPerYear: _byClass, ...plain } = PROFILE_DEFAULTS.hindcast;
  const defaults = Object.entries(plain).map(([key, value]) =>
    [key, typeof value === "string" ? value : JSON.stringify(value)] as const
  );
  const expected = new Map<string, string | undefined>([...defaults, ["commission", "0"], [
    "periodsPerYear",
    undefined,
  ]]);
  expect(named.map(({ key, value }) => [key, value]).toSorted()).toEqual([...expected].toSorted());
  for (const [key, values] of Object.entries(VALUES)) {
    const { row = "" } = named.find((one) => one.key === key) ?? {};
    for (const value of values) expect([key, row]).toEqual([key, expect.stringContaining(value)]);
  }
});
