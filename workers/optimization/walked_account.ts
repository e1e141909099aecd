/** The account out of sample of a walk-forward optimization. */
import type { Optimization } from "../../db/optimizations.ts";
import { readWindowReturns } from "../../db/trial_chunks.ts";
import {
  type AccountDays,
  listAccountDays,
  type OutOfSample,
  stitchWindows,
  type TradedWindow,
} from "../../research/walk_forward.ts";
import type { CandleServices } from "../backtest/run_candles.ts";
import { carryTests, type RunCarry } from "./carried_tests.ts";
import type { FindPoints } from "./points.ts";

/** The figures of the account, and all its days. */
interface WalkedAccount {
  readonly outOfSample: OutOfSample;
  readonly days: AccountDays;
}

/**
 * Measures the account that trades the tests: one that keeps its position between them, or tests that start flat, one after the other.
 *
 * @returns Null without windows.
 * @throws {RunError} As loadCandles().
 */
export async function walkAccount(
  services: CandleServices,
  record: Optimization,
  rates: { readonly periodsPerYear: number; readonly riskFreeRate: number },
  act: { readonly find: FindPoints; readonly carry: RunCarry },
): Promise<WalkedAccount | null> {
  const { windows, initialBalance } = record;
  if (windows.length === 0) return null;
  const found = await carryTests(services, record, act);
  const [carried, reason] = found === null ? [null] : "reason" in found ? [null, found.reason] : [found];
  const chosen = windows.filter(({ best, test }) => carried === null ? test !== null : best !== null);
  const trainings = chosen.map(({ train }) => train?.annualReturn ?? null);
  const traded = carried === null ? await readTraded(services.db, record) : [carried];
  const stitched = stitchWindows(traded, { initialBalance, ...rates }, trainings);
  const outOfSample = {
    ...stitched,
    undefined_figures: { ...stitched.undefined_figures, ...(reason === undefined ? {} : { carried: reason }) },
    carried: carried !== null,
    exposure: carried === null ? meanOf(chosen.map(({ test }) => test?.exposure)) : carried.exposure,
    in_sample_exposure: meanOf(chosen.map(({ train }) => train?.exposure)),
  };
  return { outOfSample, days: listAccountDays(traded, initialBalance) };
}

async function readTraded(db: CandleServices["db"], { id, windows }: Optimization): Promise<TradedWindow[]> {
  const tests = await readWindowReturns(db, id);
  return windows.flatMap(({ train }, i) => {
    const own = tests.get(i);
    return own === undefined ? [] : [{ ...own, trainAnnualReturn: train?.annualReturn ?? null }];
  });
}

function meanOf(values: readonly (number | null | undefined)[]): number | null {
  const known = values.filter((value) => typeof value === "number");
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0) / known.length;
}
