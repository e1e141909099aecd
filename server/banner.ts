import type { Config } from "./config.ts";
import { findCrossSiteOrigins } from "./middleware/cross_site_cookies.ts";

/** The text that a user sees after a start: the address, where the data is, and how to import candles. @param url The service's address. */
export function describeStart(config: Config, url: string): string {
  const data = config.databaseUrl === undefined ? `Data is kept in ${config.dataDir}.` : "Data is kept in PostgreSQL.";
  const secret = config.ingestionSecret === undefined
    ? "set INGESTION_ADMIN_SECRET (16 characters or more) and start again"
    : "send the header x-ingestion-admin-secret";
  return `Hindcast listens on ${url}
${data} Sample candles: DEMO on SAMPLE, one-minute, 2024.

${warnOfCookies(config, url)}
To import candles of your own, ${secret}, or sign up
and run \`hindcast admin EMAIL\` (in the repository, \`npx -y deno@2.9.6 task admin EMAIL\`); then
  curl -X POST '${url}/api/admin/ingestion/import?symbol=AAPL&exchange=NASDAQ&assetClass=stock&timeframe=1d' \\
    -H 'content-type: text/csv' -H 'x-ingestion-admin-secret: ...' --data-binary @AAPL.csv
`;
}

/** A line about trusted origins whose pages cannot stay signed in; empty where there are none. */
function warnOfCookies({ baseUrl = "", trustedOrigins }: Config, url: string): string {
  if (baseUrl.startsWith("https:")) return "";
  const own = baseUrl === "" ? [url, url.replace("127.0.0.1", "localhost")] : [baseUrl];
  const origins = findCrossSiteOrigins(own, trustedOrigins);
  if (origins.length === 0) return "";
  return `Pages of ${origins.join(", ")} cannot stay signed in: they are of another site, so BASE_URL must be https.\n`;
}
