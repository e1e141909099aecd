/** One metric in words. */
export interface MetricDefinition {
  /** The question that it answers. */
  readonly meaning: string;
  readonly formula: string;
  readonly unit: string;
  readonly sample: string;
  /** Why it may be null; any metric may also be beyond the range of numbers. */
  readonly undefinedWhen: readonly string[];
}

type Define = (unit: string, meaning: string, formula: string, ...undefinedWhen: string[]) => MetricDefinition;

function from(sample: string): Define {
  return (unit, meaning, formula, ...undefinedWhen) => ({ meaning, formula, unit, sample, undefinedWhen });
}

/** The samples that metrics are measured on, in the order of docs/metrics.md. */
export const SAMPLES = {
  candles: "candles of the range",
  marks: "equity at each candle's close (marks)",
  days: "daily returns",
  closed: "closed trades",
  orders: "orders, fills and all trades",
} as const;

export const ofCandles = from(SAMPLES.candles);
export const ofMarks = from(SAMPLES.marks);
export const ofDays = from(SAMPLES.days);
export const ofClosed = from(SAMPLES.closed);
export const ofOrders = from(SAMPLES.orders);
