import type { Context } from "./trpc.ts";

// A longer check counts as failed: load balancers wait for the answer.
const CHECK_MS_MAX = 1_500;
// Time in which this thread is busy counts as one tick: the database may have answered meanwhile.
const TICK_MS = 100;

/** A check that was not answered in time. */
export class CheckTimeout extends Error {
  override readonly name = "CheckTimeout";
}

/**
 * Makes simultaneous callers of a check share one attempt, and callers within a time its answer. The routes of health are public: without
 * this, any number of callers could each start a statement.
 *
 * @param holdMs How long an answer is kept.
 * @returns The attempt's answer, or its error, which is a CheckTimeout after 1.5 s.
 */
export function sharing<Answer>(
  attempt: (ctx: Context) => Promise<Answer>,
  holdMs = 0,
): (ctx: Context) => Promise<Answer | Error> {
  const kept = new WeakMap<object, { readonly answer: Promise<Answer | Error>; endedMs: number | null }>();
  return (ctx) => {
    const found = kept.get(ctx.db);
    const isFresh = found !== undefined && (found.endedMs === null || performance.now() - found.endedMs < holdMs);
    if (isFresh) return found.answer;
    const own: { answer: Promise<Answer | Error>; endedMs: number | null } = {
      answer: tryOut(attempt(ctx)).finally(() => own.endedMs = performance.now()),
      endedMs: null,
    };
    kept.set(ctx.db, own);
    return own.answer;
  };
}

async function tryOut<Answer>(answer: Promise<Answer>): Promise<Answer | Error> {
  let ticks = 0;
  const late = Promise.withResolvers<Error>();
  const timer = setInterval(() => {
    if (++ticks * TICK_MS >= CHECK_MS_MAX) late.resolve(new CheckTimeout(`No answer within ${CHECK_MS_MAX / 1000} s`));
  }, TICK_MS);
  try {
    return await Promise.race([answer, late.promise]);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearInterval(timer);
  }
}
