import type { StudyRecords, StudyRow } from "../../db/backtest_studies.ts";
import type { Db } from "../../db/client.ts";
import { RUN_KINDS } from "../../db/run_kinds.ts";
import { AppError } from "../common/errors.ts";
import { REMOVAL_SECONDS } from "../common/quotas.ts";

/** Monte Carlo simulations of one backtest, and stress tests; each takes about 30 kB. */
export const OF_BACKTEST_MAX = 20;

/** @throws AppError QUOTA_EXCEEDED where a backtest has as many of a kind as it may. */
export async function requireFewStudies<Row extends StudyRow>(
  tx: Db,
  records: StudyRecords<Row>,
  backtestId: string,
): Promise<void> {
  const held = await records.countOf(tx, backtestId);
  if (held < OF_BACKTEST_MAX) return;
  const { noun } = RUN_KINDS[records.kind];
  throw new AppError(
    "QUOTA_EXCEEDED",
    `Cannot keep another ${noun}: the backtest has ${held}; delete one that you no longer need`,
    { retryAfterSeconds: REMOVAL_SECONDS },
  );
}
