import { decodeColumns } from "../../db/codec/columns.ts";
import { unpackEquity } from "../../db/codec/marked_equity.ts";
import type { Columns } from "../../db/codec/packed_columns.ts";
import { encodeChunks, type ResultChunk, resultParts } from "../../db/codec/result_parts.ts";
import type { RunInput, RunResult } from "../../engine/run.ts";

/** The curve in the chunks of a result, as it is read back: `time`, `equity` and `position`. */
export function readCurve(chunks: Iterable<ResultChunk>): Columns {
  const curves: Columns[] = [];
  for (const { part, data, candles } of chunks) {
    if (part !== "equity") continue;
    curves.push(unpackEquity({ ...decodeColumns(data), ...(candles ? decodeColumns(candles.data) : {}) }));
  }
  const join = (name: string) => Float64Array.from(curves.flatMap((curve) => [...curve[name] ?? []]));
  return { time: join("time"), equity: join("equity"), position: join("position") };
}

/**
 * Stores the curve of a run and reads it back.
 *
 * @returns It, and whether its balances were stored rather than its equity.
 */
export function storeCurve(result: RunResult, { candles, firstIndex }: Pick<RunInput, "candles" | "firstIndex">) {
  const chunks = [...encodeChunks(resultParts(result, candles, firstIndex))].filter(({ part }) => part === "equity");
  const names = chunks.flatMap(({ data }) => Object.keys(decodeColumns(data)));
  return { curve: readCurve(chunks), isPacked: !names.includes("equity") };
}
