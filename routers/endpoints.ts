import { z } from "zod";
import type { Db } from "../db/client.ts";
import { answerRequest, type EndpointKey, type TakenRequest, takeRequest } from "../db/served_requests.ts";
import { inputObject } from "./common/input_object.ts";
import { router, serveProcedure, type UserContext } from "./common/trpc.ts";
import { WAIT_SECONDS_MAX } from "./runs/runs.ts";

const ERROR_LENGTH_MAX = 200;

const nameSchema = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, {
  error: "must be lower-case letters, digits and hyphens, 63 at most, such as my-model",
});

const messageSchema = z.record(z.string(), z.unknown());

const idSchema = z.uuid().describe("The request's.");

const answerSchema = z.union([
  inputObject({ id: idSchema, body: messageSchema.describe("The answer of strategies/REMOTE.md.") }),
  inputObject({
    id: idSchema,
    error: z.string().max(ERROR_LENGTH_MAX).describe("The reason why there is none: it ends the run."),
  }),
]).describe("The answer to the request that came last; none in the first call.");

const nextSchema = z.object({
  accepted: z.boolean().nullable().describe(
    "False where the request had an answer already, or no run waits for it; null without `answer`.",
  ),
  request: z.object({
    id: idSchema,
    timeout_ms: z.int().describe("Time to answer, before another program may get it, too."),
    body: messageSchema.describe("The request of strategies/REMOTE.md."),
  }).nullable().describe("What a run asks; null where none asked for `wait` seconds."),
});

export const endpointsRouter = router({
  /** Takes a program's answer, and delivers the next request of a run to it, once there is one. */
  next: serveProcedure
    .input(inputObject({
      name: nameSchema,
      wait: z.int().min(0).max(WAIT_SECONDS_MAX).default(WAIT_SECONDS_MAX)
        .describe("Seconds to wait for a request, 0 to 30."),
      answer: answerSchema.optional(),
    }))
    .output(nextSchema)
    .mutation(async ({ ctx, input: { name, wait, answer }, signal }) => {
      const endpoint = { ownerId: ctx.user.id, name };
      const accepted = answer === undefined ? null : await store(ctx, endpoint, answer);
      const stop = AbortSignal.any([ctx.closing, ...(signal === undefined ? [] : [signal])]);
      const taken = await awaitRequest(ctx, endpoint, wait * 1000, stop);
      if (taken === null) return { accepted, request: null };
      const { id, timeoutMs, body } = taken;
      return { accepted, request: { id, timeout_ms: timeoutMs, body: messageSchema.parse(JSON.parse(body)) } };
    }),
});

/** @returns False where another program was first, or the run does not wait any more. */
async function store(
  { db, queue }: UserContext,
  endpoint: EndpointKey,
  answer: z.infer<typeof answerSchema>,
): Promise<boolean> {
  const isRefusal = "error" in answer;
  const json = JSON.stringify(isRefusal ? { error: answer.error } : answer.body);
  return await db.transaction(async (tx: Db) => {
    const isFirst = await answerRequest(tx, { ...endpoint, id: answer.id }, { json, isRefusal });
    if (isFirst) await queue.notifyAnswer(tx, answer.id);
    return isFirst;
  });
}

/** The next request; null after a time, or once the signal is aborted: a client that has left must not take one. */
async function awaitRequest(
  { db, queue }: UserContext,
  endpoint: EndpointKey,
  waitMs: number,
  stop: AbortSignal,
): Promise<TakenRequest | null> {
  if (waitMs === 0) return stop.aborted ? null : await takeRequest(db, endpoint);
  let changed = Promise.withResolvers<void>();
  const wake = () => changed.resolve();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), waitMs);
  const end = AbortSignal.any([stop, timeout.signal]);
  end.addEventListener("abort", wake);
  const unwatch = await queue.watchEndpoint(endpoint, wake);
  try {
    while (!end.aborted) {
      // Before the look, so that no request between look and wait is missed.
      changed = Promise.withResolvers();
      const taken = await takeRequest(db, endpoint);
      if (taken !== null) return taken;
      await changed.promise;
    }
    return null;
  } finally {
    clearTimeout(timer);
    end.removeEventListener("abort", wake);
    unwatch();
  }
}
