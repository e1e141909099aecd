/** Notes that results over one market and over many have in common. */
import type { Execution } from "./execution.ts";
import type { TradingAccount, Unreachable } from "./trading_account.ts";

/** Losses below this part of the initial balance are rounding. */
const LOSS_NOISE = 1e-9;

/** The account lost more than it had; null where it did not. @param time The times of its marks. */
export function noteRuin(ruin: TradingAccount["ruin"], initialBalance: number, time: Float64Array): string | null {
  if (ruin === null || ruin.loss <= LOSS_NOISE * initialBalance) return null;
  const loss = Number(ruin.loss.toPrecision(12));
  const moment = new Date(time[ruin.index]!).toISOString();
  return `The losses at ${moment} exceed the account by ${loss}. The broker bears this`;
}

/** Candles without finer ones, where a run replays finer ones; none where it does not. @param count How many. */
export function noteUnreplayed({ bothTouched }: Execution, count: number): string[] {
  if (bothTouched !== "magnify" || count === 0) return [];
  return [`bothTouched magnify: candles that no finer ones cover, where stops were assumed to come first: ${count}`];
}

/** Trades had a guard that no price reaches; none where no trade had. */
export function noteUnreachable(unreachable: Unreachable | null): string[] {
  if (unreachable === null) return [];
  const { trades, guard, fraction } = unreachable;
  const had = trades === 1 ? "A trade has" : `${trades} trades have`;
  return [
    `${had} a ${guard} that no price reaches: a fraction of ${fraction} puts it at 0 or below. ` +
    "Fractions are parts of the price: 5% is 0.05",
  ];
}
