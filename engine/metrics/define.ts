/** How a value of each unit is written. */
const FORMATS = {
  "ISO 8601 UTC": "date",
  count: "count",
  days: "days",
  none: "ratio",
  ratio: "ratio",
  probability: "percent",
  fraction: "percent",
  "fraction, positive": "percent",
  "fraction per day": "percent",
  "fraction per day, a loss is positive": "percent",
  "fraction per year": "percent",
  "fraction of entry value": "percent",
  "fraction of entry value, negative": "percent",
  money: "money",
  "money, negative": "money",
  "money per trade": "money",
} as const;

type Unit = keyof typeof FORMATS;

/** How a metric is shown and compared. */
interface Traits {
  /** The metric's name as a page or a terminal shows it. */
  readonly label: string;
  readonly unit: Unit;
  /** Absent: a trader may want it large or small. */
  readonly better?: "more" | "less";
  /** True if its sign is good or bad news. */
  readonly isSigned?: true;
}

/** One metric in words, and all that a reader needs to show and compare its values. */
export interface MetricDefinition {
  /** The metric's name as a page or a terminal shows it. */
  readonly label: string;
  /** The question that it answers. */
  readonly meaning: string;
  readonly formula: string;
  readonly unit: Unit;
  /** How a value is written, which follows from the unit. */
  readonly format: typeof FORMATS[Unit];
  /** The better direction; null: a trader may want it large or small. */
  readonly better: "more" | "less" | null;
  /** True if its sign is good or bad news. */
  readonly isSigned: boolean;
  readonly sample: string;
  /** Why it may be null; any metric may also be beyond the range of numbers. */
  readonly undefinedWhen: readonly string[];
}

type Define = (traits: Traits, meaning: string, formula: string, ...undefinedWhen: string[]) => MetricDefinition;

function from(sample: string): Define {
  return ({ label, unit, better = null, isSigned = false }, meaning, formula, ...undefinedWhen) => ({
    label,
    meaning,
    formula,
    unit,
    format: FORMATS[unit],
    better,
    isSigned,
    sample,
    undefinedWhen,
  });
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
