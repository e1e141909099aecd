import type { Config } from "./config.ts";

/**
 * The text that a user sees after a start: the address, where the data is, and how to import candles.
 *
 * @param url The service's address.
 */
export function describeStart(config: Config, url: string): string {
  const data = config.databaseUrl === undefined ? `Data is kept in ${config.dataDir}.` : "Data is kept in PostgreSQL.";
  const secret = config.ingestionSecret === undefined
    ? `set INGESTION_ADMIN_SECRET (16 characters or more) and start again, or sign up and run \`npx -y deno@2.9.6 task admin EMAIL\``
    : `send the header x-ingestion-admin-secret, or sign up and run \`npx -y deno@2.9.6 task admin EMAIL\``;
  return `Hindcast listens on ${url}
${data} Sample candles: DEMO on SAMPLE, one-minute, 2024.

To import candles of your own, ${secret}; then
  curl -X POST '${url}/api/admin/ingestion/import?symbol=AAPL&exchange=NASDAQ&assetClass=stock&timeframe=1d' \\
    -H 'content-type: text/csv' -H 'x-ingestion-admin-secret: ...' --data-binary @AAPL.csv
`;
}
