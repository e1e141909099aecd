import { z } from "zod";
import { measureLog, readLog } from "../../db/backtest_logs.ts";
import { inputObject } from "../common/input_object.ts";
import { idSchema } from "../runs/runs.ts";
import { mustOwnRun } from "./owned_backtest.ts";
import { userProcedure } from "../common/trpc.ts";

export const logSchema = z.object({ log: z.array(z.string()) });

export const logProcedures = {
  /** The lines that the strategy of one of the caller's backtests logged, and the stack of the error that ended it. */
  log: userProcedure
    .input(inputObject({ id: idSchema }))
    .output(logSchema)
    .query(async ({ ctx, input: { id } }) => {
      const { backtestId } = await mustOwnRun(ctx, id);
      return await ctx.answer.inTurn(async () => {
        ctx.answer.requireSome();
        const log = [...await readLog(ctx.db, backtestId)];
        ctx.answer.take(measureLog(log));
        return { log };
      });
    }),
};
