import type { Execution } from "../execution.ts";
import { cashInterestOf, marginInterestOf } from "../rules/financing.ts";
import type { TradingAccount } from "../trading_account.ts";
import type { Seat } from "./seat.ts";

/**
 * Interest between the times of two rows, on the account's cash at the earlier one. What it has borrowed is shared by the longs, in
 * proportion to their values; trades pay it with their own financing at the next open of their market.
 *
 * @param opening The seats whose next candle begins. @param between Milliseconds since 1970.
 */
export function payInterest(
  execution: Execution,
  account: TradingAccount,
  held: readonly Seat[],
  opening: readonly Seat[],
  [from, to]: readonly [number, number],
): void {
  let [longs, shorts] = [0, 0];
  for (const { value } of held) {
    if (value > 0) longs += value;
    else shorts -= value;
  }
  const loan = marginInterestOf(execution, account.cash, from, to);
  const interest = cashInterestOf(execution, account.cash, shorts, from, to);
  for (const seat of held) {
    const { value, market, opened } = seat;
    if (loan !== 0) seat.loan += value > 0 ? loan * (value / longs) : longs === 0 ? loan / held.length : 0;
    if (!opening.includes(seat)) continue;
    market.finance(opened, seat.loan / seat.ledger.rate);
    seat.loan = 0;
  }
  account.earn(interest);
}
