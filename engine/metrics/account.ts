import type { MarkMetrics } from "./drawdown.ts";
import type { MetricsInput } from "./input.ts";
import { type Measured, ratio } from "./measured.ts";
import { NO_EQUITY } from "./reasons.ts";

export interface AccountMetrics {
  readonly candles: number;
  readonly exposure: number;
  readonly initial_equity: number;
  readonly final_equity: number;
  readonly fees_paid: number;
  readonly cash_interest: number;
  readonly turnover: Measured;
  readonly rejected_orders: number;
}

/** The account's own numbers. */
export function accountMetrics(input: MetricsInput, { meanMark }: Pick<MarkMetrics, "meanMark">): AccountMetrics {
  const count = input.equity.length;
  return {
    candles: count,
    exposure: input.trades.exposedCandles / count,
    initial_equity: input.initialBalance,
    final_equity: input.equity[count - 1]!,
    fees_paid: input.feesPaid,
    cash_interest: input.cashInterest,
    turnover: ratio(input.tradedValue, meanMark, NO_EQUITY),
    rejected_orders: input.rejectedOrders,
  };
}
