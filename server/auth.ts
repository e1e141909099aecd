import { getLogger } from "@logtape/logtape";
import { AsyncLocalStorage } from "node:async_hooks";
import { drizzleAdapter } from "better-auth/adapters/drizzle";
import { betterAuth } from "better-auth";
import { isAPIError } from "better-auth/api";
import { admin } from "better-auth/plugins";
import type { Db } from "../db/client.ts";
import { isDatabaseFault } from "../db/faults.ts";
import * as schema from "../db/schema.ts";
import { listSessionAddresses } from "../db/users.ts";
import type { User } from "../routers/trpc.ts";

const log = getLogger(["hindcast", "http"]);

// Our own header, set from the connection and never taken from a client, so that limits count addresses and not headers.
const ADDRESS_HEADER = "x-hindcast-client-address";

/** How many characters a password may have. */
export const PASSWORD_LENGTHS = { least: 8, most: 128 };

/** Sign-up, sign-in and sessions: the authentication library behind the three calls that the rest of the server needs. */
export interface Auth {
  /**
   * Answers a request under /api/auth.
   *
   * @throws What is no answer, such as the database's failure.
   */
  handle(request: Request, clientAddress: string): Promise<Response>;
  /** The methods that are answered at a path under /api/auth; none where there is nothing. */
  methodsAt(path: string): readonly string[];
  /** The addresses from which sessions of an account were begun that have not ended; none where there is no such account. */
  listSessionAddresses(email: string): Promise<readonly string[]>;
  /** Who a request's cookie belongs to, or null: no cookie, a forged one, an expired one. */
  findSession(headers: Headers): Promise<{ user: User; session: { id: string; expiresAt: Date } } | null>;
}

/**
 * Builds the authentication on our tables.
 *
 * @param options.secret Signs cookies; the same for every process on one database.
 * @param options.baseUrl Where clients reach the service; over https, cookies are Secure.
 * @param options.origins The origins that may send cookies, the service's own included.
 */
export function createAuth(
  db: Db,
  options: { secret: string; baseUrl: string; origins: readonly string[] },
): Auth {
  const auth = betterAuth({
    database: drizzleAdapter(db, { provider: "pg", schema }),
    secret: options.secret,
    baseURL: options.baseUrl,
    trustedOrigins: [...options.origins],
    emailAndPassword: {
      enabled: true,
      minPasswordLength: PASSWORD_LENGTHS.least,
      maxPasswordLength: PASSWORD_LENGTHS.most,
    },
    plugins: [admin()],
    telemetry: { enabled: false },
    // Ours (rate_limit.ts) also counts by account, and answers with Retry-After.
    rateLimit: { enabled: false },
    advanced: { ipAddress: { ipAddressHeaders: [ADDRESS_HEADER] } },
    // Of what it logs, faults alone: the rest is about what clients sent wrongly, and quotes it. Not to be given a level: with one it
    // writes refusals to the console, past this.
    logger: {
      log: (level, _message, ...details) => {
        const error = details.find((detail) => detail instanceof Error);
        if (level === "error" && error !== undefined) tellFault(error);
      },
    },
    onAPIError: {
      onError: (error) => {
        // What is no answer of the library's is ours to log and to answer; it would be written to the console, values and all.
        if (!isAPIError(error)) throw error;
        if (error.statusCode >= 500) tellFault(error);
      },
    },
  });
  const endpoints = Object.values(auth.api).flatMap(({ path: pathname, options: { method } }) =>
    pathname === undefined ? [] : [{ pattern: new URLPattern({ pathname }), methods: [method].flat() }]
  );
  return {
    methodsAt: (pathname) => {
      const there = endpoints.filter(({ pattern }) => pattern.test({ pathname }));
      return [...new Set(there.flatMap(({ methods }) => methods))];
    },
    async handle(request, clientAddress) {
      const headers = new Headers(request.headers);
      headers.set(ADDRESS_HEADER, clientAddress);
      // The library refuses a cookie without Origin. Our own check has let this request pass as one of no browser.
      if (!headers.has("origin")) headers.set("origin", options.baseUrl);
      // And it knows no HEAD.
      const method = request.method === "HEAD" ? "GET" : request.method;
      // A body of no bytes is none: the library asks for the type of any, and signing out needs no body.
      const bytes = await request.arrayBuffer();
      const body = bytes.byteLength === 0 ? null : bytes;
      return await withFaults(() => auth.handler(new Request(request.url, { method, headers, body })));
    },
    listSessionAddresses: (email) => listSessionAddresses(db, email),
    async findSession(headers) {
      if (!headers.has("cookie")) return null;
      // Lengthening a session takes a cookie that lasts as long, which only the library's own routes send.
      const found = await withFaults(() => auth.api.getSession({ headers, query: { disableRefresh: true } }));
      if (found === null) return null;
      const { id, email, name, role } = found.user;
      return {
        user: { id, email, name, role: isAdmin(role) ? "admin" : "user" },
        session: { id: found.session.id, expiresAt: found.session.expiresAt },
      };
    },
  };
}

// Of one call of the library's: the fault that it has told of, in place of which it throws or answers something that says nothing.
const faults = new AsyncLocalStorage<{ fault?: Error }>();

function tellFault(error: Error): void {
  const told = faults.getStore();
  if (told === undefined || told.fault !== undefined) logFault(error);
  else told.fault = error;
}

/** Calls the library. @throws What it failed of, or answered a fault of the database with. */
async function withFaults<T>(call: () => Promise<T>): Promise<T> {
  const told: { fault?: Error } = {};
  let answer: T;
  try {
    answer = await faults.run(told, call);
  } catch (error) {
    throw told.fault ?? error;
  }
  if (isDatabaseFault(told.fault)) throw told.fault;
  if (told.fault !== undefined) logFault(told.fault);
  return answer;
}

function logFault(error: Error): void {
  log.error("Cannot do something with an account: {error}", { error });
}

/** Roles are stored as a comma-separated list. */
function isAdmin(role: string | null | undefined): boolean {
  return (role ?? "").split(",").some((part) => part.trim() === "admin");
}
