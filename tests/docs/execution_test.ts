/** docs/execution.md agrees with the request's schema and the engine's defaults. */
import { expect } from "@std/expect";
import { z } from "zod";
import { PROFILE_DEFAULTS, SIZING_TYPES } from "../../engine/execution.ts";
import { ORDER_REASONS } from "../../engine/order_columns.ts";
import { executionRequestSchema } from "../../routers/runs/execution_request.ts";
import { readPage, rowsOf } from "../support/pages.ts";
import { renderExecutionPage } from "./execution_page.ts";

/** The parts of a JSON schema that the page repeats. */
interface Bounds {
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly type?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly anyOf?: readonly Bounds[];
  readonly properties?: Readonly<Record<string, Bounds>>;
}

const PAGE = await readPage("docs/execution.md");
const SETTINGS = rowsOf(PAGE).filter((row) => row.length === 6);
const SCHEMA: Bounds = JSON.parse(JSON.stringify(z.toJSONSchema(executionRequestSchema)));
const KEYS = SCHEMA.properties ?? {};

const code = (value: unknown) => `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
const numberOf = (value = NaN) => value === 1e12 ? "1e12" : String(value);

/** The cell of the column Values. */
function valuesOf(bounds: Bounds): string {
  if (bounds.enum !== undefined) return bounds.enum.map(code).join(", ");
  if (bounds.const !== undefined) return code(bounds.const);
  if (bounds.type === "boolean") return "`true`, `false`";
  if (bounds.pattern !== undefined) return "3 to 10 capitals or digits";
  if (bounds.type === "null") return "or `null`";
  if (bounds.type === "number" || bounds.type === "integer") {
    return bounds.exclusiveMinimum === undefined
      ? `${numberOf(bounds.minimum)} to ${numberOf(bounds.maximum)}`
      : `above ${bounds.exclusiveMinimum}, at most ${numberOf(bounds.maximum)}`;
  }
  if (bounds.properties?.symbol !== undefined) return "`{symbol, exchange}`";
  if (bounds.properties?.type !== undefined) return "`{type, value}`, see below";
  if (bounds.properties !== undefined) return "or parts, see below";
  return [...new Set((bounds.anyOf ?? []).map(valuesOf))].join(", ");
}

/** The cell of a default; `commission` is written as a rate. */
function defaultOf(key: string, value: unknown): string {
  if (key === "commission" || key === "delay") return "`0`";
  if (key === "baseCurrency") return "`null`";
  if (key === "periodsPerYear") return "by asset class";
  return code(value);
}

Deno.test("the page lists every type of orders and model of slippage: deno task docs writes the rows", async () => {
  expect(PAGE).toBe(await renderExecutionPage());
});

Deno.test("the page lists every key with its defaults and bounds", () => {
  const [ours, library] = [PROFILE_DEFAULTS.hindcast, PROFILE_DEFAULTS["backtesting.py"]].map((profile) =>
    new Map<string, unknown>(Object.entries(profile))
  );
  const expected = Object.entries(KEYS).map(([key, bounds]) => {
    const plain = defaultOf(key, ours?.get(key));
    const profiled = defaultOf(key, library?.get(key));
    return [code(key), plain, profiled === plain ? "" : profiled, valuesOf(bounds)];
  });
  const listed = SETTINGS.map(([key, plain, profiled, _unit, values]) => [key, plain, profiled, values]);
  expect(listed.toSorted()).toEqual(expected.toSorted());
});

Deno.test("the page lists the parts of sizing, commission and slippage with their bounds", () => {
  const rows = new Map(rowsOf(PAGE).map((row) => [row[0], row]));
  for (const type of SIZING_TYPES) expect(rows.has(code(type))).toBe(true);
  const parts = KEYS.commission?.anyOf?.[1]?.properties ?? {};
  expect(Object.keys(parts)).toEqual(Object.keys(PROFILE_DEFAULTS.hindcast.commission));
  for (const [name, bounds] of Object.entries(parts)) {
    expect([name, rows.get(code(name))?.[3]]).toEqual([name, valuesOf(bounds)]);
    const value = new Map<string, unknown>(Object.entries(PROFILE_DEFAULTS.hindcast.commission)).get(name);
    expect(rows.get(code(name))?.[1]).toMatch(new RegExp(`^${code(value)}`));
  }
  const models = (KEYS.slippage?.anyOf ?? []).flatMap(({ properties }) => properties === undefined ? [] : [properties]);
  expect(models.length).toBeGreaterThan(2);
  for (const model of models) {
    const name = `\`{${Object.keys(model).join(", ")}}\``;
    expect([name, rows.get(name)?.[1]]).toEqual([name, Object.values(model).map(valuesOf).join("; ")]);
  }
});

Deno.test("the page names every reason of an unfilled order", () => {
  const text = PAGE.replaceAll(/\s+/g, " ");
  expect(ORDER_REASONS.filter((reason) => reason !== "" && !text.includes(code(reason)))).toEqual([]);
});
