import type { MiddlewareHandler } from "hono";
import { AppError, quote } from "../../routers/errors.ts";
import { secretMatches } from "../context.ts";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Refuses requests that a foreign page makes in a user's name.
 *
 * A browser names the page in Origin, or at least says `Sec-Fetch-Site`; a request with neither comes from curl or a
 * server, which no page can steer. Requests without a cookie act in nobody's name, and a valid ingestion secret is not
 * something that a browser adds by itself: both are exempt.
 *
 * @param origins Those that may send cookies.
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
