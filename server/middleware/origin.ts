import type { MiddlewareHandler } from "hono";
import { AppError, quote } from "../../routers/common/errors.ts";
import { secretMatches } from "../requests/context.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses requests that a page of another origin makes in a user's name.
 *
 * A browser sends Origin, or at least `Sec-Fetch-Site`; a request with neither comes from curl or a server. Requests without a cookie
 * act for no user, and no browser adds the ingestion secret by itself: both are exempt.
 *
 * @param origins The origins that may send cookies.
 */
export function refuseForeignOrigins(
  origins: ReadonlySet<string>,
  ingestionSecret: string | undefined,
): MiddlewareHandler {
  return async (c, next) => {
    const header = (name: string) => c.req.header(name);
    const exempt = SAFE_METHODS.has(c.req.method) || header("cookie") === undefined ||
      secretMatches(header("x-ingestion-admin-secret"), ingestionSecret);
    const origin = header("origin");
    if (!exempt && origin !== undefined && !origins.has(origin)) {
      throw new AppError("ORIGIN_NOT_ALLOWED", `Cannot accept a request from the origin ${quote(origin)}`);
    }
    const site = header("sec-fetch-site");
    if (!exempt && origin === undefined && (site === "cross-site" || site === "same-site")) {
      throw new AppError("ORIGIN_NOT_ALLOWED", `Cannot accept a ${site} request without an Origin`);
    }
    await next();
  };
}
