import { getLogger } from "@logtape/logtape";
import type { Context as HonoContext } from "hono";
import { OPEN_ID_CALLBACK } from "../requests/open_id.ts";
import type { ServerEnv } from "../requests/context.ts";

const log = getLogger(["hindcast", "audit"]);

const PREFIX = "/api/auth/";

/** Requests about accounts that are recorded, besides all below /admin/. */
const RECORDED: ReadonlySet<string> = new Set([
  "sign-up/email",
  "sign-in/email",
  "sign-out",
  "change-password",
  "verify-password",
  "request-password-reset",
  "reset-password",
  "change-email",
  "delete-user",
  "device/approve",
  "device/deny",
  "revoke-session",
  "revoke-sessions",
  "revoke-other-sessions",
]);

/** Finds the users behind a request. */
interface AuditSources {
  /** The user of the request's session. */
  findUserId(headers: Headers): Promise<string | undefined>;
  /** The user with an e-mail address. */
  findUserIdOf(email: string): Promise<string | undefined>;
}

/**
 * Records sign-ins, changes of accounts and acts of admins on accounts as log lines of the category `hindcast.audit`.
 *
 * A line holds ids and never what was typed: people type passwords into the wrong fields.
 */
export function auditAccounts(sources: AuditSources) {
  return async (c: HonoContext<ServerEnv>, next: () => Promise<void>): Promise<void> => {
    const act = c.req.path.slice(PREFIX.length);
    const isReturn = `/${act}` === OPEN_ID_CALLBACK;
    const isRecorded = c.req.method === "POST" && (RECORDED.has(act) || act.startsWith("admin/"));
    if (!isReturn && !isRecorded) return await next();
    const { headers } = c.req.raw;
    const isSigning = act.startsWith("sign-in/") || act.startsWith("sign-up/");
    // Read first: signing out ends the session.
    const actor = isSigning ? undefined : await sources.findUserId(headers);
    await next();
    // From a provider of identities the browser is sent on either way, and with a session if it is signed in.
    const returned = isReturn ? await sources.findUserId(sentCookies(c.res)) : undefined;
    const isDone = isReturn ? returned !== undefined : c.res.status < 400;
    const body = c.get("body");
    // A flood that is turned away must not reach the database.
    const signer = isSigning && c.res.status < 429 ? await findSigner(sources, body, headers) : undefined;
    log.info("{act}: {outcome}", {
      act,
      outcome: isDone ? "done" : "refused",
      status: c.res.status,
      user_id: returned ?? signer ?? actor,
      target_id: isDone && act.startsWith("admin/") ? textAt(body, "userId") : undefined,
      role: isDone && act === "admin/set-role" ? textAt(body, "role") : undefined,
      address: c.get("clientAddress"),
      request_id: c.get("requestId"),
    });
  };
}

/** The headers of a browser that keeps an answer's cookies. */
function sentCookies({ headers }: Response): Headers {
  return new Headers({ cookie: headers.getSetCookie().map((line) => line.split(";")[0]).join("; ") });
}

async function findSigner(sources: AuditSources, body: unknown, headers: Headers): Promise<string | undefined> {
  const email = textAt(body, "email");
  const owner = email === undefined ? undefined : await sources.findUserIdOf(email);
  return owner ?? await sources.findUserId(headers);
}

function textAt(body: unknown, key: string): string | undefined {
  const value: unknown = typeof body === "object" && body !== null ? Reflect.get(body, key) : undefined;
  return typeof value === "string" ? value : undefined;
}
