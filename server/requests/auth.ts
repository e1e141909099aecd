import { getLogger } from "@logtape/logtape";
import { AsyncLocalStorage } from "node:async_hooks";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import type { BetterAuthOptions } from "better-auth";
import { isAPIError } from "better-auth/api";
// Without the library's own database layer and its other plugins, a start needs a tenth less processor time.
import { betterAuth } from "better-auth/minimal";
import { admin } from "better-auth/plugins/admin";
import { defaultRoles } from "better-auth/plugins/admin/access";
import type { Db } from "../../db/client.ts";
import { isDatabaseFault, isDatabaseShortage } from "../../db/faults.ts";
import * as schema from "../../db/schema.ts";
import {
  endAccess,
  findQuotas,
  findSession,
  findUserId,
  hasPassword,
  listSessionAddresses,
  readRole,
} from "../../db/users.ts";
import { issueToken } from "../../routers/tokens.ts";
import type { Caller } from "../../routers/common/trpc.ts";
import { deviceTokens } from "./device_tokens.ts";
import { createOpenId, OPEN_ID_CALLBACK, type OpenIdClient } from "./open_id.ts";
import { type AccountMails, passwordMails, verificationMails } from "../mail/account_mails.ts";
import { readSessionToken, signAnew } from "./session_cookie.ts";

const log = getLogger(["hindcast", "http"]);

// Set from the connection and never taken from a client.
const ADDRESS_HEADER = "x-hindcast-client-address";

/** Limits on a password's length, in characters. */
export const PASSWORD_LENGTHS = { least: 8, most: 128 };

// A name such as "constructor" must not be found on an object's prototype.
const ROLES = Object.assign(Object.create(null), defaultRoles);

/** Sign-up, sign-in and sessions: the authentication library behind the three calls that the rest of the server needs. */
export interface Auth {
  /** Answers a request under /api/auth. @throws The error where the library has no answer, such as a failure of the database. */
  handle(request: Request, clientAddress: string): Promise<Response>;
  /** True if a path under /api/auth is for providers of identities that are not set. */
  isClosed(path: string): boolean;
  /** The methods that a path under /api/auth accepts; none for an unknown path. */
  methodsAt(path: string): readonly string[];
  /** The id of the user whose session a request's cookie names. */
  findUserId(headers: Headers): Promise<string | undefined>;
  /** The id of the user with an e-mail address. */
  findUserIdOf(email: string): Promise<string | undefined>;
  /** True unless a request's user has no password, as one whom a provider of identities signs in. */
  needsPassword(headers: Headers): Promise<boolean>;
  /** Ends all sessions of a user, and revokes all their tokens. */
  endAccess(userId: string): Promise<void>;
  /** The addresses that the account's open sessions started from; none for an unknown account. */
  listSessionAddresses(email: string): Promise<readonly string[]>;
  /** The user and session of a request's cookie; null without a cookie, or with a forged or expired one. */
  findSession(headers: Headers): Promise<Caller | null>;
  /**
   * The same, and lengthens a session that is used a day after its start or its last renewal: `cookies` then say so.
   *
   * @param inTurn Asks the database when it is the turn of the session with this token. No forged cookie gets there.
   */
  useSession(headers: Headers, inTurn: SessionTurn): Promise<UsedSession | null>;
}

type UsedSession = Caller & { readonly cookies: readonly string[] };
type SessionTurn = <Found>(token: string, find: () => Promise<Found>) => Promise<Found>;

/**
 * Builds the authentication on our tables.
 *
 * @param options.secret Signs cookies; the same for every process on one database.
 * @param options.oldSecret Signed the cookies of before; they count as those of `secret`.
 * @param options.baseUrl Where clients reach the service; over https, cookies are Secure.
 * @param options.origins The origins that may send cookies, the service's own included.
 * @param options.mails Undefined where the service sends none.
 * @param options.openId Undefined where no provider of identities is set.
 */
export function createAuth(
  db: Db,
  options: {
    secret: string;
    oldSecret?: string | undefined;
    baseUrl: string;
    origins: readonly string[];
    mails?: AccountMails | undefined;
    openId?: OpenIdClient | undefined;
  },
): Auth {
  const { mails, openId: client } = options;
  const issue: Parameters<typeof deviceTokens>[1] = (user, asked) =>
    issueToken(db, { id: user.id, role: readRole("role" in user ? String(user.role) : null) }, asked);
  const library = {
    database: drizzleAdapter(db, { provider: "pg", schema }),
    secret: options.secret,
    baseURL: options.baseUrl,
    trustedOrigins: [...options.origins],
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTHS.least,
      maxPasswordLength: PASSWORD_LENGTHS.most,
      ...(mails === undefined ? {} : passwordMails(mails, (userId) => endAccess(db, userId))),
    },
    ...(mails === undefined ? {} : { emailVerification: verificationMails(mails) }),
    // With its password: our own rule asks for it (password_rules.ts).
    user: { deleteUser: { enabled: true } },
    plugins: [admin({ roles: ROLES }), deviceTokens(options.baseUrl, issue)],
    telemetry: { enabled: false },
    // Ours (rate_limit.ts) also counts by account, and answers with Retry-After.
    rateLimit: { enabled: false },
    advanced: { ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] } },
    ...reports,
  } satisfies BetterAuthOptions;
  const auth = betterAuth(library);
  const openId = client && createOpenId(library, client, mails?.mustVerify ?? false);
  const endpoints = listEndpoints(auth.api);
  const getSession = async (headers: Headers, disableRefresh: boolean) => {
    if (!headers.has("cookie")) return null;
    const query = { disableRefresh };
    const found = await withFaults(() => auth.api.getSession({ headers, query, returnHeaders: true }));
    if (found.response === null) return null;
    const { user: { id, email, name, role }, session } = found.response;
    return {
      user: { id, email, name, role: readRole(role) },
      session: { id: session.id, expiresAt: session.expiresAt, scope: null },
      quotas: await findQuotas(db, id) ?? null,
      cookies: found.headers.getSetCookie(),
    };
  };
  const findCurrent = createFinder(db, auth.$context);
  const renew = (headers: Headers) => withCurrentSignatures(headers, options);
  // Its callers send no cookies.
  const findCaller: Auth["findSession"] = async (headers) => await getSession(await renew(headers), true);
  return {
    findSession: findCaller,
    useSession: async (given, inTurn) => {
      const headers = await renew(given);
      const token = await readToken(headers, await auth.$context);
      return token === undefined
        ? null
        : await inTurn(token, async () => await findCurrent(headers, token) ?? await getSession(headers, false));
    },
    findUserId: async (headers) => (await findCaller(headers))?.user.id,
    needsPassword: async (headers) => {
      const caller = await findCaller(headers);
      return caller === null || await hasPassword(db, caller.user.id);
    },
    isClosed: (path) => isCallback(path) && (openId === undefined || path !== OPEN_ID_CALLBACK),
    methodsAt: (pathname) => {
      const there = endpoints.filter(({ pattern }) => pattern.test({ pathname }));
      return [...new Set(there.flatMap(({ methods }) => methods))];
    },
    async handle(request, clientAddress) {
      const headers = new Headers(await renew(request.headers));
      headers.set(ADDRESS_HEADER, clientAddress);
      // The library refuses a cookie without Origin; our own check has accepted this request already.
      if (!headers.has("origin")) headers.set("origin", options.baseUrl);
      // The library has no HEAD.
      const method = request.method === "HEAD" ? "GET" : request.method;
      // The library wants a content type for any body, even an empty one, and signing out needs none.
      const bytes = await request.arrayBuffer();
      const body = bytes.byteLength === 0 ? null : bytes;
      const sent = new Request(request.url, { method, headers, body });
      const isOpenId = openId?.serves(new URL(request.url).pathname);
      return await withFaults(() => isOpenId ? openId!.handle(sent) : auth.handler(sent));
    },
    endAccess: (userId) => endAccess(db, userId),
    findUserIdOf: (email) => findUserId(db, email),
    listSessionAddresses: (email) => listSessionAddresses(db, email),
  };
}

/** A request's headers as if the current secret had signed all cookies. The library signs anew those that it renews. */
async function withCurrentSignatures(
  headers: Headers,
  { secret, oldSecret }: { readonly secret: string; readonly oldSecret?: string | undefined },
): Promise<Headers> {
  const cookie = headers.get("cookie");
  if (cookie === null || oldSecret === undefined) return headers;
  const renewed = new Headers(headers);
  renewed.set("cookie", await signAnew(cookie, { old: oldSecret, current: secret }));
  return renewed;
}

/** The library's parts that say how it reads a session. */
interface SessionRules {
  readonly secret: string;
  readonly authCookies: Readonly<Record<"sessionToken" | "sessionData", { readonly name: string }>>;
  /** Seconds from a session's start or last renewal: until it ends, and until a use renews it. */
  readonly sessionConfig: { readonly expiresIn: number; readonly updateAge: number };
}

/** The token of a request's cookie; undefined without a valid signature. */
async function readToken(headers: Headers, { secret, authCookies }: SessionRules): Promise<string | undefined> {
  return await readSessionToken(headers.get("cookie") ?? "", authCookies.sessionToken.name, secret);
}

/**
 * Finds a session that needs nothing but to be read, in one statement: the library takes two, and most of a short request's time.
 *
 * @returns A function that answers null where the library must decide: no such session, one that has ended or is to be renewed, or a
 * cookie that it would clear.
 */
function createFinder(db: Db, library: Promise<SessionRules>) {
  return async (headers: Headers, token: string): Promise<UsedSession | null> => {
    const { authCookies, sessionConfig: { expiresIn, updateAge } } = await library;
    if (headers.get("cookie")?.includes(authCookies.sessionData.name)) return null;
    const found = await findSession(db, token);
    if (found === undefined) return null;
    const { user, quotas, ...session } = found;
    const usedFor = expiresIn - (session.expiresAt.getTime() - Date.now()) / 1000;
    if (usedFor >= Math.min(updateAge, expiresIn)) return null;
    return { user: { ...user, role: readRole(user.role) }, session: { ...session, scope: null }, quotas, cookies: [] };
  };
}

// For each call of the library: the fault that it logged, since it then throws or answers without the cause.
const faults = new AsyncLocalStorage<{ fault?: Error }>();

function reportFault(error: Error): void {
  const call = faults.getStore();
  if (call === undefined || call.fault !== undefined) logFault(error);
  else call.fault = error;
}

/** Calls the library. @throws The fault behind its error, or behind its answer where the database failed. */
async function withFaults<T>(call: () => Promise<T>): Promise<T> {
  const reported: { fault?: Error } = {};
  let answer: T;
  try {
    answer = await faults.run(reported, call);
  } catch (error) {
    throw reported.fault ?? error;
  }
  if (isDatabaseFault(reported.fault) || isDatabaseShortage(reported.fault)) throw reported.fault;
  if (reported.fault !== undefined) logFault(reported.fault);
  return answer;
}

function logFault(error: Error): void {
  log.error("Cannot complete a request about an account: {error}", { error });
}

/** The library's settings for its own messages. */
const reports = {
  // Only faults: its other messages quote what clients sent. With a `level` the library would write those to the console itself.
  logger: {
    log: (level, _message, ...details) => {
      const error = details.find((detail) => detail instanceof Error);
      if (level === "error" && error !== undefined) reportFault(error);
    },
  },
  onAPIError: {
    onError: (error) => {
      // The library would write other errors to the console with all their values; our own handler logs them without.
      if (!isAPIError(error)) throw error;
      if (error.statusCode >= 500) reportFault(error);
    },
  },
} satisfies BetterAuthOptions;

interface Endpoint {
  readonly path?: string;
  readonly options: { readonly method: string | string[] };
}

function listEndpoints(api: Readonly<Record<string, Endpoint>>) {
  return Object.values(api).flatMap(({ path: pathname, options: { method } }) =>
    pathname === undefined || isCallback(pathname)
      ? []
      : [{ pattern: new URLPattern({ pathname }), methods: [method].flat() }]
  );
}

function isCallback(path: string): boolean {
  return path.startsWith("/callback/");
}
