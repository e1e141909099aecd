/** What an answer tells about the life of a run, the same for every kind. */
import { z } from "zod";
import type { RunFailure, RunStatus } from "../../db/runs.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";

export const errorSchema = z.object({ code: z.string(), message: z.string() });

/** When a run was submitted, began and ended. */
export const RUN_MOMENTS = {
  created_at: z.iso.datetime(),
  started_at: z.iso.datetime().nullable(),
  finished_at: z.iso.datetime().nullable(),
} as const;

/** The state of a study. */
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
