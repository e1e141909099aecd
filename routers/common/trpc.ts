import { getLogger } from "@logtape/logtape";
import { initTRPC } from "@trpc/server";
import type { Db } from "../../db/client.ts";
import type { RunQueue } from "../../db/run_queue.ts";
import type { Quotas } from "../../db/schema.ts";
import type { Scope } from "../../db/tokens.ts";
import type { ReadThrough } from "../../market/on_demand/read_through.ts";
import type { AnswerBudget } from "./answer_budget.ts";
import type { RowsWorker } from "../../workers/rows/rows_worker.ts";
import type { UserTurns } from "./user_turns.ts";
import { AppError, errorBody, toAppError, unstorable } from "./errors.ts";
import type { AgentSignIn } from "./agent_sign_in.ts";
import type { Link } from "./link.ts";
import type { SIGN_UP } from "./sign_up.ts";
import { findUnstorable } from "./text.ts";

/** The signed-in user. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: "user" | "admin";
}

/** The sign-in, or the token that stands in for one. */
export interface Session {
  readonly id: string;
  readonly expiresAt: Date;
  /** The rights of a token; null for a sign-in, which has all rights of its user. */
  readonly scope: Scope | null;
}

/** The sender of a request. */
export interface Caller {
  readonly user: User;
  readonly session: Session;
  /** The limits that are the user's own; null without any. */
  readonly quotas: Partial<Quotas> | null;
}

/** The parts of the service that every request may use. */
export interface Services {
  readonly db: Db;
  readonly queue: RunQueue;
  /** Aborted when the service begins to close; long answers end then. */
  readonly closing: AbortSignal;
  /** performance.now() at the start. */
  readonly startedAt: number;
  /** Reads candles that are not archived yet. */
  readonly readThrough: ReadThrough;
  /** The largest file that an import accepts, packed and unpacked. */
  readonly importBytesMax: number;
  /** The limits of users without their own. */
  readonly quotaDefaults: Quotas;
  /** Most candles in the range of a backtest. */
  readonly runCandlesMax: number;
  /** `host:port` pairs that users' endpoints may have although they are not public. */
  readonly remoteAllow: ReadonlySet<string>;
  readonly signUp: (typeof SIGN_UP)[number];
  /** Takes a mail and does not wait for it; null where the service sends none. */
  readonly sendMail: ((mail: { readonly to: string; readonly subject: string; readonly text: string }) => void) | null;
  /** The provider of identities that signs users in; null without one. */
  readonly openIdHost: string | null;
  readonly agentSignIn: AgentSignIn;
  /** For what takes long to read. */
  readonly userTurns: UserTurns;
  /** Decodes and writes the rows of lists. */
  readonly rowsWorker: RowsWorker;
}

/** The context of a procedure's call. */
export interface Context extends Services {
  readonly user: User | null;
  readonly session: Session | null;
  /** The user's. */
  readonly quotas: Quotas;
  /** The link that a reader without an account came by, which opens a few procedures alone. */
  readonly link: Link | null;
  /** The request carried the configured ingestion secret. */
  readonly hasIngestionSecret: boolean;
  readonly requestId: string;
  /** The client's key for this request, so that it can repeat it safely. */
  readonly idempotencyKey: string | undefined;
  readonly clientAddress: string;
  /** The address, or the /64 network of IPv6: a client can have every address of it. */
  readonly clientNetwork: string;
  /** Read so far by all calls of this request, which may be a batch. */
  readonly read: { candles: number };
  readonly answer: AnswerBudget;
}

/** The context of a signed-in user's call. */
export type UserContext = Context & { readonly user: User };

/** The time between keep-alive comments on event streams. */
export const KEEP_ALIVE_MS = 15_000;

const audit = getLogger(["hindcast", "audit"]);

const t = initTRPC.context<Context>().create({
  // tRPC cannot detect a server under Deno's test runner.
  isServer: true,
  isDev: false,
  // Proxies close idle connections, and clients should leave dead ones.
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

// Behind the guards, so that a stranger's input is never read.
const refuseUnstorable = t.middleware(async ({ getRawInput, next }) => {
  const issue = findUnstorable(await getRawInput());
  if (issue !== undefined) throw unstorable(issue);
  return await next();
});

/** Anyone may call. Every procedure refuses text that no database column can hold. */
export const publicProcedure = t.procedure.use(refuseUnstorable);

/** Only signed-in users and their tokens may call; `ctx.user` is one. */
export const userProcedure = t.procedure.use(({ ctx, type, next }) => next({ ctx: requireUser(ctx, scopeFor(type)) }))
  .use(refuseUnstorable);

/**
 * The owner of a record may call, and whoever has a link to it; `ctx.link` says which. A link stands for its owner here, so a procedure
 * that uses this must show nothing but the record that `key` names, without what its owner keeps from others.
 *
 * @param kind The links that open it. @param key The field of the input with the record's id.
 */
export function linkedProcedure(kind: Link["kind"], key: "id" | "backtest_id") {
  return t.procedure.use(async ({ ctx, type, getRawInput, next }) => {
    if (ctx.link === null) return await next({ ctx: requireUser(ctx, scopeFor(type)) });
    const id: unknown = Reflect.get(Object(await getRawInput()), key);
    if (type !== "query" || ctx.link.kind !== kind || typeof id !== "string" || !ctx.link.ids.includes(id)) {
      throw new AppError("FORBIDDEN", "Cannot read this by the link: it shows something else");
    }
    return await next({ ctx: standForOwner(ctx.link) });
  }).use(refuseUnstorable);
}

/** The owner of a link as the user of a reading: an id to find records by, and nothing else about the person. */
export function standForOwner(link: Link): { user: User; session: Session } {
  return {
    user: { id: link.ownerId, email: "", name: "", role: "user" },
    session: { id: link.id, expiresAt: link.expiresAt, scope: "read" },
  };
}

// An operator reads the actor and the action; the input may hold anything and is left out.
const recordChange = t.middleware(async ({ ctx, type, path, next, getRawInput }) => {
  const answer = await next();
  if (type === "mutation") {
    audit.info("{act}: {outcome}", {
      act: path,
      outcome: answer.ok ? "done" : "refused",
      user_id: ctx.user?.id,
      target_id: answer.ok && path.startsWith("users.") ? Reflect.get(Object(await getRawInput()), "id") : undefined,
      with_secret: ctx.hasIngestionSecret,
      address: ctx.clientAddress,
      request_id: ctx.requestId,
    });
  }
  return answer;
});

/** Users and their tokens may call, and it is recorded: what it changes is seen by others. */
export const recordedUserProcedure = t.procedure.use(({ ctx, type, next }) =>
  next({ ctx: requireUser(ctx, scopeFor(type)) })
).use(recordChange).use(refuseUnstorable);

/** Programs that answer for a user's strategies may call, with a token that may do nothing else. */
export const serveProcedure = t.procedure.use(({ ctx, next }) => next({ ctx: requireUser(ctx, "serve") }))
  .use(refuseUnstorable);

/** Only users who signed in may call: a token must not make or keep others. */
export const signedInProcedure = t.procedure.use(({ ctx, next }) => next({ ctx: requireSignIn(ctx) }))
  .use(recordChange).use(refuseUnstorable);

/** Only admins may call. */
export const adminProcedure = t.procedure.use(({ ctx, next }) => {
  requireAdmin(ctx);
  return next();
}).use(recordChange).use(refuseUnstorable);

/** Only admins and callers with the ingestion secret may call. */
export const ingestionProcedure = t.procedure.use(({ ctx, next }) => {
  requireIngestionAdmin(ctx);
  return next();
}).use(recordChange).use(refuseUnstorable);

/**
 * The callers of a procedure: anyone, users and their tokens, the same for programs that answer, users who signed in, admins, or
 * admins and callers with the ingestion secret.
 */
export type Access = "public" | "user" | "serve" | "signed-in" | "admin" | "ingestion";

type CallType = "query" | "mutation" | "subscription";

const GUARDS: Readonly<Record<Access, (ctx: Context, type: CallType) => void>> = {
  public: () => {},
  user: (ctx, type) => requireUser(ctx, scopeFor(type)),
  serve: (ctx) => requireUser(ctx, "serve"),
  "signed-in": requireSignIn,
  admin: requireAdmin,
  ingestion: requireIngestionAdmin,
};

/**
 * @param type The kind of call, on which the scope that a token needs depends.
 * @throws AppError UNAUTHENTICATED or FORBIDDEN where the caller lacks the access.
 */
export function requireAccess(access: Access, ctx: Context, type: CallType): void {
  GUARDS[access](ctx, type);
}

/** The scope that a token needs for a user's own records. */
function scopeFor(type: CallType): Scope {
  return type === "mutation" ? "run" : "read";
}

function requireUser(ctx: Context, scope: Scope): { user: User; session: Session } {
  const { user, session } = ctx;
  if (user === null || session === null) {
    throw new AppError("UNAUTHENTICATED", "Cannot do this without a session: sign in first, or send a token");
  }
  requireScope(session, scope);
  return { user, session };
}

/** The rights of a token of each scope. A token for a program on an author's machine reads nothing. */
const RIGHTS: Readonly<Record<Scope, readonly Scope[]>> = {
  serve: ["serve"],
  read: ["read"],
  run: ["read", "run", "serve"],
  admin: ["read", "run", "serve", "admin"],
};

function requireScope({ scope }: Session, needed: Scope): void {
  if (scope === null || RIGHTS[scope].includes(needed)) return;
  throw new AppError("FORBIDDEN", `Cannot do this with a token of the scope ${scope}: it needs the scope ${needed}`);
}

function requireSignIn(ctx: Context): { user: User; session: Session } {
  const signedIn = requireUser(ctx, "read");
  if (signedIn.session.scope === null) return signedIn;
  throw new AppError("FORBIDDEN", "Cannot do this with a token: sign in with e-mail and password");
}

function requireAdmin(ctx: Context): void {
  const { user, session } = requireUser(ctx, "read");
  if (user.role !== "admin") throw new AppError("FORBIDDEN", "Cannot do this without the role admin");
  requireScope(session, "admin");
}

function requireIngestionAdmin(ctx: Context): void {
  if (!ctx.hasIngestionSecret) requireAdmin(ctx);
}
