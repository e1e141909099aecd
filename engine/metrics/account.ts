import type { MetricsInput } from "./input.ts";
import { type Measured, ratio } from "./measured.ts";
import { NO_EQUITY } from "./reasons.ts";

export interface AccountMetrics {
  readonly candles: number;
  readonly exposure: number;
  readonly initial_equity: number;
  readonly final_equity: number;
  readonly peak_equity: number;
  readonly fees_paid: number;
  readonly cash_interest: number;
  readonly turnover: Measured;
  readonly rejected_orders: number;
}

/** The account's own numbers, from its marks at each candle's close; the mean of the marks is summed left to right. */
export function accountMetrics(input: MetricsInput): AccountMetrics {
  const { equity } = input;
  const count = equity.length;
  let peak = equity[0]!;
  let total = 0;
  for (let i = 0; i < count; i++) {
    const mark = equity[i]!;
    total += mark;
    if (mark > peak) peak = mark;
  }
  return {
    candles: count,
    exposure: input.exposedCandles / count,
    initial_equity: input.initialBalance,
    final_equity: equity[count - 1]!,
    peak_equity: peak,
    fees_paid: input.feesPaid,
    cash_interest: input.cashInterest,
    turnover: ratio(input.tradedValue, total / count, NO_EQUITY),
    rejected_orders: input.rejectedOrders,
  };
}
