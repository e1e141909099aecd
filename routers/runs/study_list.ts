import { z } from "zod";
import type { StudyRecords, StudyRow } from "../../db/backtest_studies.ts";
import { BACKTEST_STATUSES } from "../../db/schema.ts";
import type { List } from "../common/paging.ts";
import type { UserContext } from "../common/trpc.ts";
import { newestFirst } from "./run_procedures.ts";
import { idSchema, type Runs } from "./runs.ts";

/** The conditions of a list of what is found out about backtests. */
export const studyFilterShape = { backtest_id: idSchema.optional(), status: z.enum(BACKTEST_STATUSES).optional() };

type Filter = z.infer<z.ZodObject<typeof studyFilterShape>>;

/** The caller's records of a kind, newest first; with `backtest_id`, only those of it. */
export function studyList<Row extends StudyRow, Item>(
  ctx: UserContext,
  { runs, records, show }: {
    readonly runs: Runs<Row>;
    readonly records: StudyRecords<Row>;
    readonly show: (row: Row) => Item;
  },
  { backtest_id: backtestId, status }: Filter,
): List<Row, Item> {
  const where = backtestId === undefined ? undefined : records.of(backtestId);
  const list = newestFirst(ctx, runs, { status, where }, { show, pieceRows: 20 });
  // Any text is looked up: an id that is no UUID has none.
  const isKnown = backtestId === undefined || z.uuid().safeParse(backtestId).success;
  return isKnown ? list : { ...list, read: () => Promise.resolve([]) };
}
