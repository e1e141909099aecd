import { initTRPC } from "@trpc/server";
import type { Db } from "../db/client.ts";
import type { ReadThrough } from "../market/on_demand/read_through.ts";
import { AppError, errorBody, toAppError, unstorable } from "./errors.ts";
import type { Quotas } from "./quotas.ts";
import { findUnstorable } from "./text.ts";

/** The signed-in user. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: "user" | "admin";
}

/** The way to the workers. Jobs are written in the caller's transaction, so that record and job exist together or not at all. */
export interface Queue {
  enqueueBacktest(tx: Db, backtestId: string, ownerId: string, queuePosition: number): Promise<void>;
  /** Takes away the job of a backtest that the transaction cancels or deletes. */
  dequeueBacktest(tx: Db, backtestId: string): Promise<void>;
  enqueueIngestion(tx: Db, runId: string): Promise<void>;
  enqueueModuleCheck(tx: Db, checkId: string, queuePosition: number): Promise<void>;
  /** Calls back whenever a backtest's record changes, in whatever process. @returns What ends it. */
  watchBacktest(backtestId: string, onChange: () => void): Promise<() => void>;
  /** Makes what runs by itself agree with the instruments' schedules. */
  syncSchedules(): Promise<void>;
  /**
   * Whether any process takes backtests.
   *
   * @throws When the queue cannot be reached.
   */
  check(): Promise<{ readonly hasWorker: boolean }>;
}

/** What the service itself gives to every request. */
export interface Services {
  readonly db: Db;
  readonly queue: Queue;
  /** Aborted when the service begins to close: what would go on for long ends then. */
  readonly closing: AbortSignal;
  /** performance.now() at the start. */
  readonly startedAt: number;
  /** The way to candles that are not archived yet. */
  readonly readThrough: ReadThrough;
  /** The largest CSV file that an import accepts. */
  readonly importBytesMax: number;
  readonly quotas: Quotas;
  /** How many candles the range of a backtest may have. */
  readonly runCandlesMax: number;
  /** `host:port` pairs that users' endpoints may have though they are not public. */
  readonly remoteAllow: ReadonlySet<string>;
}

/** What a procedure knows about its caller. */
export interface Context extends Services {
  readonly user: User | null;
  readonly session: { readonly id: string; readonly expiresAt: Date } | null;
  /** The request carried the configured ingestion secret. */
  readonly hasIngestionSecret: boolean;
  readonly requestId: string;
  /** What the client calls this request, so that it can send it again. */
  readonly idempotencyKey: string | undefined;
  readonly clientAddress: string;
  /** What all calls of this request have read so far; one request may be a batch of calls. */
  readonly read: { candles: number };
}

/** How often something is sent to who follows events where nothing happens. */
export const KEEP_ALIVE_MS = 15_000;

const t = initTRPC.context<Context>().create({
  // Procedures run on servers alone, whatever the runtime looks like (Deno under a test runner has a `window`-less global).
  isServer: true,
  isDev: false,
  // Proxies close connections on which nothing comes; and clients leave those on which nothing comes any more.
  sse: {
    ping: { enabled: true, intervalMs: KEEP_ALIVE_MS },
    client: { reconnectAfterInactivityMs: 3 * KEEP_ALIVE_MS },
  },
  errorFormatter: ({ shape, error, ctx }) => {
    const { code, message, issues, request_id } = errorBody(toAppError(error), ctx?.requestId ?? "").error;
    return { ...shape, message, data: { ...shape.data, appCode: code, issues, request_id } };
  },
});

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

// Behind the guards: over tRPC the input is not read before it is asked for, and a stranger's not at all.
const refuseUnstorable = t.middleware(async ({ getRawInput, next }) => {
  const issue = findUnstorable(await getRawInput());
  if (issue !== undefined) throw unstorable(issue);
  return await next();
});

/** Anyone may call. Every procedure refuses text that no database column can hold. */
export const publicProcedure = t.procedure.use(refuseUnstorable);

/** Only signed-in users may call; `ctx.user` is one. */
export const userProcedure = t.procedure.use(({ ctx, next }) => next({ ctx: requireUser(ctx) })).use(refuseUnstorable);

/** Only admins and callers with the ingestion secret may call. */
export const ingestionProcedure = t.procedure.use(({ ctx, next }) => {
  requireIngestionAdmin(ctx);
  return next();
}).use(refuseUnstorable);

/** Who may call: anyone, signed-in users, admins, or admins and callers with the ingestion secret. */
export type Access = "public" | "user" | "admin" | "ingestion";

const GUARDS: Readonly<Record<Access, (ctx: Context) => void>> = {
  public: () => {},
  user: requireUser,
  admin: requireAdmin,
  ingestion: requireIngestionAdmin,
};

/** @throws AppError UNAUTHENTICATED or FORBIDDEN where the caller lacks the access. */
export function requireAccess(access: Access, ctx: Context): void {
  GUARDS[access](ctx);
}

function requireUser(ctx: Context): { user: User; session: NonNullable<Context["session"]> } {
  if (ctx.user === null || ctx.session === null) {
    throw new AppError("UNAUTHENTICATED", "Cannot do this without a session: sign in first");
  }
  return { user: ctx.user, session: ctx.session };
}

function requireAdmin(ctx: Context): void {
  if (requireUser(ctx).user.role !== "admin") {
    throw new AppError("FORBIDDEN", "Cannot do this without the role admin");
  }
}

function requireIngestionAdmin(ctx: Context): void {
  if (!ctx.hasIngestionSecret) requireAdmin(ctx);
}
