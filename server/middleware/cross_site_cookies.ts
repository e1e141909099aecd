import type { MiddlewareHandler } from "hono";
import { getDomain } from "tldts";

/**
 * The trusted origins of another site than the service's own: browsers send them no `SameSite=Lax` cookies.
 *
 * A site is the scheme with the registrable domain: app.example.com and api.example.com are one, two users of deno.net are not.
 *
 * @param own The origins at which browsers reach the service.
 */
export function findCrossSiteOrigins(own: readonly string[], trusted: readonly string[]): string[] {
  const sites = new Set(own.map(siteOf));
  return trusted.filter((origin) => !sites.has(siteOf(origin)));
}

function siteOf(origin: string): string {
  const { protocol, hostname } = new URL(origin);
  // Null for an address, and for a name without a domain such as localhost.
  return `${protocol}//${getDomain(hostname, { allowPrivateDomains: true }) ?? hostname}`;
}

/**
 * Sets cookies so that pages of other sites keep them: `SameSite=None; Secure; Partitioned`. All others stay `Lax`.
 *
 * @param origins Trusted origins of other sites; empty where the service is not https, since such cookies must be Secure.
 */
export function setCrossSiteCookies(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    await next();
    if (!origins.includes(c.req.header("origin") ?? "")) return;
    const cookies = c.res.headers.getSetCookie();
    c.res.headers.delete("set-cookie");
    for (const cookie of cookies) {
      c.res.headers.append("set-cookie", `${plain(cookie)}; SameSite=None; Secure; Partitioned`);
    }
  };
}

function plain(cookie: string): string {
  return cookie.replaceAll(/; *(?:SameSite=[^;]*|Secure|Partitioned)(?=;|$)/gi, "");
}
