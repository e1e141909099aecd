import type { StoredTrials } from "../../db/codec/trial_rows.ts";
import { TrialTable } from "../../db/codec/trial_table.ts";
import { NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { resultSchema } from "../../routers/backtests/backtest_result.ts";

const DAY = "2024-02-01T00:00:00.000Z";
const ODD = [0, -0, 1 / 3, 1e-9, 1e21, -123456789.123, 5];

/** Trials with metrics, without some, and with errors. */
export function storeTrials(count: number, first = 0): StoredTrials {
  const table = new TrialTable({ objective: "sharpe", direction: "max", returnsStride: 1000 });
  for (let i = 0; i < count; i++) {
    const at = { place: first + 2 * i, point: (first + i) % 48 };
    if (i % 5 === 4) {
      table.addFailed(at, { code: "STRATEGY_FAILED", message: `it says "no", ${i}` });
      continue;
    }
    const undefinedMetrics = i % 3 === 0 ? { sharpe: "no deviation" } : {};
    const metrics = Object.fromEntries(
      NUMERIC_METRIC_NAMES.map((name, k) => [name, name in undefinedMetrics ? null : ODD[(i + k) % ODD.length]! + k]),
    );
    const values = resultSchema.shape.metrics.parse({ ...metrics, start: DAY, end: DAY });
    table.add(at, { metrics: values, undefinedMetrics, dailyReturns: new Float64Array() });
  }
  const { trials, data, notes } = table.encode();
  // The database has an order of its own.
  return { first, trials, data, notes: { ...notes, times: { end: DAY, start: DAY } } };
}
