/** The fields of an answer about any run: its question and its life. */
import { z } from "zod";
import type { RunFailure, RunStatus } from "../../db/runs.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";

export const errorSchema = z.object({ code: z.string(), message: z.string() });

/** The question of a run of a strategy, without its parameters. */
export const RUN_QUESTION = {
  symbol: z.string(),
  exchange: z.string(),
  strategy: z.string(),
  strategy_slug: z.string().nullable(),
  strategy_version: z.string().nullable(),
  start_date: z.string(),
  end_date: z.string(),
  initial_balance: z.number(),
} as const;

/** When a run was submitted, began and ended. */
export const RUN_MOMENTS = {
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
} as const;

export const STUDY_STATE = {
  status: z.enum(BACKTEST_STATUSES),
  progress: z.number(),
  attempts: z.int(),
  ...RUN_MOMENTS,
  error: errorSchema.nullable(),
} as const;

interface Moments {
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
}

interface StudyState extends Moments {
  readonly status: RunStatus;
  readonly progress: number;
  readonly attempts: number;
  readonly error: RunFailure | null;
}

interface Question {
  readonly symbol: string;
  readonly exchange: string;
  readonly strategy: string;
  readonly strategySlug: string | null;
  readonly strategyVersion: string | null;
  readonly startDate: string;
  readonly endDate: string;
  readonly initialBalance: number;
}

/** The fields of RUN_QUESTION. */
export function showQuestion(row: Question) {
  return {
    symbol: row.symbol,
    exchange: row.exchange,
    strategy: row.strategy,
    strategy_slug: row.strategySlug,
    strategy_version: row.strategyVersion,
    start_date: row.startDate,
    end_date: row.endDate,
    initial_balance: row.initialBalance,
  };
}

/** The fields of RUN_MOMENTS. */
export function showMoments({ createdAt, startedAt, finishedAt }: Moments) {
  return {
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt?.toISOString() ?? null,
  };
}

/** The fields of STUDY_STATE. */
export function showStudyState(row: StudyState) {
  const { status, progress, attempts, error } = row;
  return { status, progress, attempts, ...showMoments(row), error };
}

/** The code of a failure alone: its message may quote a strategy. */
export function shareError<Failure extends { readonly code: string; readonly message: string }>(error: Failure) {
  return { ...error, message: "It failed. Its owner sees why." };
}
