import type { Backtest, BacktestRequest } from "../../api.ts";

/** The submission that makes the same run again. */
function toRequest(backtest: Backtest): BacktestRequest {
  const { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters } = backtest;
  return { symbol, exchange, strategy, start_date, end_date, initial_balance, parameters };
}

/** A command for a POSIX shell that submits the same run, with a token of the environment. */
export function toCurl(backtest: Backtest, origin: string): string {
  const body = JSON.stringify({ backtest: toRequest(backtest) }, null, 2);
  return [
    `curl -X POST ${quote(`${origin}/api/backtests`)}`,
    `  -H 'content-type: application/json'`,
    '  -H "Authorization: Bearer $HINDCAST_TOKEN"',
    `  --data ${quote(body)}`,
  ].join(" \\\n");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
