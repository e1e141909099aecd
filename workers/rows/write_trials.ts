/** The trials of a chunk as rows of an answer, straight from their columns: an object for each takes thirty times as long. */
import type { RowRange } from "../../db/codec/result_rows.ts";
import { errorOf, reasonsOf, timesOf, type TrialRows } from "../../db/codec/trial_rows.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { marketAt, marketsOf, parametersAt, withoutMarkets } from "../../research/market_axis.ts";
import type { Space } from "../../research/space.ts";
import type { Column, Format } from "./table_format.ts";
import { ArrowWriter } from "./arrow_writer.ts";
import { csvLines } from "./table_part.ts";

const encoder = new TextEncoder();
const METRIC_KEYS = NUMERIC_METRIC_NAMES.map((name) => `,${JSON.stringify(name)}:`);

/** The columns of trials as CSV or Arrow. */
export function trialColumns(space: Space): Column[] {
  const text = (name: string): Column => ({ name, kind: "text", isNullable: true });
  return [
    { name: "number", kind: "integer", isNullable: false },
    ...(marketsOf(space) === null ? [] : [{ name: "market", kind: "text", isNullable: false } as const]),
    ...withoutMarkets(space).axes.map((axis): Column => {
      const kinds = new Set("step" in axis ? ["number"] : axis.values.map((value) => typeof value));
      const [only] = kinds.size === 1 ? kinds : ["string"];
      const kind = only === "number" ? "number" : only === "boolean" ? "boolean" : "text";
      return { name: `parameters.${axis.name}`, kind, isNullable: false };
    }),
    ...NUMERIC_METRIC_NAMES.map((name): Column => ({ name, kind: "number", isNullable: true })),
    text("error_code"),
    text("error_message"),
  ];
}

/** Some trials in a format: JSON without the list's brackets, CSV without its head, Arrow as a batch. */
export function writeTrials(format: Format, space: Space, rows: TrialRows, range: RowRange): Uint8Array<ArrayBuffer> {
  if (format === "json") return encoder.encode(trialsAsJson(space, rows, range));
  const values = trialValues(space, rows, range);
  const length = range.until - range.from;
  if (format === "arrow") return new ArrowWriter(trialColumns(space), {}).batch(length, values);
  return encoder.encode(csvLines(trialColumns(space), { length, values }));
}

function trialsAsJson(space: Space, rows: TrialRows, { from, until }: RowRange): string {
  const { columns } = rows;
  const metrics = NUMERIC_METRIC_NAMES.map((name) => columns[name]);
  let text = "";
  for (let row = from; row < until; row++) {
    const error = errorOf(rows, row);
    if (row > from) text += ",";
    const point = columns.point![row]!;
    const [times, market] = [timesOf(rows, row), marketAt(space, point)];
    text += `{"number":${columns.place![row]! + 1}`;
    if (market !== null) text += `,"market":${JSON.stringify(market)}`;
    text += `,"parameters":${JSON.stringify(parametersAt(space, point))}`;
    if (error !== null || times === null) text += ',"metrics":null';
    else {
      text += `,"metrics":{"start":${JSON.stringify(times.start)},"end":${JSON.stringify(times.end)}`;
      for (let i = 0; i < metrics.length; i++) text += METRIC_KEYS[i]! + jsonNumber(metrics[i]?.[row] ?? NaN);
      text += "}";
    }
    text += `,"undefined_metrics":${JSON.stringify(reasonsOf(rows, row))},"error":${JSON.stringify(error)}}`;
  }
  return text;
}

function jsonNumber(value: number): string {
  return Number.isFinite(value) ? String(value) : "null";
}

function trialValues(space: Space, rows: TrialRows, { from, until }: RowRange): unknown[][] {
  const { columns, notes } = rows;
  const indices = Array.from({ length: until - from }, (_, i) => from + i);
  const errors = indices.map((row) => errorOf(rows, row));
  const points = indices.map((row) => parametersAt(space, columns.point![row]!));
  const markets = marketsOf(space) === null ? [] : [indices.map((row) => marketAt(space, columns.point![row]!))];
  const hasMetrics = errors.map((error) => error === null && notes.times !== null);
  return [
    indices.map((row) => columns.place![row]! + 1),
    ...markets,
    ...withoutMarkets(space).axes.map(({ name }) => points.map((point) => point[name])),
    ...NUMERIC_METRIC_NAMES.map((name) => {
      const values = columns[name];
      return indices.map((row, i) => {
        const value = values?.[row] ?? NaN;
        return !hasMetrics[i] || Number.isNaN(value) ? null : value;
      });
    }),
    errors.map((error) => error?.code ?? null),
    errors.map((error) => error?.message ?? null),
  ];
}
