/** Records as strangers read them: without what their owner keeps from others, which is code, its words about failures, and other runs. */
import { z } from "zod";
import type { Backtest } from "../../db/backtests.ts";
import { type backtestSchema, toBacktest } from "./backtest_records.ts";
import type { Comparison } from "./backtest_comparison.ts";
import { withoutAddress } from "../strategies/runtime_config.ts";

const configSchema = z.record(z.string(), z.unknown());
const RUNTIME = /^\/parameters\/runtime(\/|$)/;

/** A backtest without notes, tags, other runs, and the place of foreign code. */
export function toShareable(row: Backtest): z.infer<typeof backtestSchema> {
  return {
    ...toBacktest(row),
    parameters: shareParameters(row.parameters),
    ...{ notes: null, tags: [], star: false, reused_from: null },
  };
}

/** Parameters without the place of foreign code. */
export function shareParameters({ runtime, ...parameters }: Readonly<Record<string, unknown>>) {
  const config = configSchema.safeParse(runtime);
  return { ...parameters, ...(config.success ? { runtime: withoutAddress(config.data) } : {}) };
}

/** A comparison without the same. */
export function shareComparison({ backtests, differences, ...rest }: Comparison): Comparison {
  return {
    ...rest,
    backtests: backtests.map((each) => ({ ...each, tags: [], star: false, reused_from: null })),
    differences: differences.filter(({ path }) => !RUNTIME.test(path)),
  };
}
