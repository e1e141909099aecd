import { AnswerBudget } from "../../routers/common/answer_budget.ts";
import type { Db } from "../../db/client.ts";
import { createFeeds } from "../../market/feeds/registry.ts";
import { ReadThrough } from "../../market/on_demand/read_through.ts";
import { UserTurns } from "../../routers/common/user_turns.ts";
import type { Context } from "../../routers/common/trpc.ts";
import { RowsWorker } from "../../workers/rows/rows_worker.ts";

const QUOTAS = {
  backtestsMax: 100,
  optimizationsMax: 10,
  resultBytesMax: 1e9,
  versionsMax: 100,
  registryBytesMax: 1_000_000,
};

/** The context of a caller who has not signed in, on a service whose queue only takes note. */
export function strangerContext(db: Db, more: Partial<Context> = {}): Context {
  const queue = {
    enqueue: () => Promise.resolve(),
    nextPosition: () => Promise.resolve(0),
    dequeue: () => Promise.resolve(),
    watch: () => Promise.resolve(() => {}),
    watchList: () => Promise.resolve(() => {}),
    enqueueIngestion: () => Promise.resolve(),
    enqueueModuleCheck: () => Promise.resolve(),
    watchModuleCheck: () => Promise.resolve(() => {}),
    watchEndpoint: () => Promise.resolve(() => {}),
    notifyAnswer: () => Promise.resolve(),
    syncSchedules: () => Promise.resolve(),
    check: () => Promise.resolve({ hasWorker: false }),
  };
  return {
    db,
    queue,
    closing: new AbortController().signal,
    startedAt: performance.now(),
    readThrough: new ReadThrough(db, createFeeds()),
    importBytesMax: 1_000_000,
    quotas: QUOTAS,
    quotaDefaults: QUOTAS,
    runCandlesMax: 1_000_000,
    remoteAllow: new Set(),
    signUp: "open",
    sendMail: null,
    openIdHost: null,
    agentSignIn: { issuer: "http://localhost", resources: ["http://localhost/mcp"], key: "a key for tests" },
    userTurns: new UserTurns(),
    rowsWorker: new RowsWorker(),
    user: null,
    session: null,
    link: null,
    hasIngestionSecret: false,
    requestId: "test",
    idempotencyKey: undefined,
    clientAddress: "127.0.0.1",
    clientNetwork: "127.0.0.1",
    read: { candles: 0 },
    answer: new AnswerBudget(),
    ...more,
  };
}
