import { expect } from "@std/expect";
import { decodeTrials } from "../../../db/codec/trial_rows.ts";
import type { Space } from "../../../research/space.ts";
import { resultSchema } from "../../../routers/backtests/backtest_result.ts";
import { toTrial } from "../../../routers/optimizations/optimization_records.ts";
import { toTrialRow } from "../../../routers/optimizations/trial_lists.ts";
import { frameTable, writeTable } from "../../../server/answers/encode_table.ts";
import { toTablePart } from "../../../workers/rows/table_part.ts";
import type { Pieces } from "../../../server/answers/send_pieces.ts";
import { trialColumns, writeTrials } from "../../../workers/rows/write_trials.ts";
import { storeTrials } from "../../support/stored_trials.ts";

const SPACE: Space = {
  axes: [
    { name: "fast", count: 4, first: 5, step: 5, decimals: 1 },
    // An object lists such a name before all others.
    { name: "7", count: 2, values: [true, false] },
    { name: 'a "mode", or so', count: 3, values: ["a,b", 'say "c"', "two\nlines"] },
    { name: "mixed", count: 2, values: [1, "one"] },
  ],
};

async function bytesOf(pieces: Pieces): Promise<Uint8Array> {
  return new Uint8Array(await new Response(ReadableStream.from(pieces)).arrayBuffer());
}

for (const from of [0, 7]) {
  Deno.test(`trials written from their columns are those written from objects, to the byte (from row ${from})`, async () => {
    const rows = decodeTrials(storeTrials(30));
    const indices = Array.from({ length: rows.count - from }, (_, i) => from + i);
    const trials = indices.map((row) => toTrial(SPACE, rows, row));
    const range = { from, until: rows.count };
    const json = new TextDecoder().decode(writeTrials("json", SPACE, rows, range));
    expect(json).toBe(trials.map((trial) => JSON.stringify(trial)).join());

    const columns = trialColumns(SPACE);
    for (const format of ["csv", "arrow"] as const) {
      const written = (async function* (): Pieces {
        yield writeTrials(format, SPACE, rows, range);
      })();
      const own = await bytesOf(frameTable(format, columns, written));
      const part = toTablePart(columns, trials.map(toTrialRow));
      expect(own).toEqual(await bytesOf(writeTable(format, columns, [part])));
    }
  });
}

Deno.test("metrics are in the order of the schema that describes them", () => {
  const rows = decodeTrials(storeTrials(1));
  const { metrics } = toTrial(SPACE, rows, 0);
  expect(JSON.stringify(metrics)).toBe(JSON.stringify(resultSchema.shape.metrics.parse(metrics)));
});
