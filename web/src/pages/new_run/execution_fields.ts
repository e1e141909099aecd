/** The rules of execution that the form offers; a run that is repeated keeps the others. docs/execution.md explains each. */

export const PROFILES = [
  { value: "hindcast", label: "Hindcast: conservative fills at the next open" },
  { value: "backtesting.py", label: "backtesting.py: the trades of that library" },
] as const;

type Rule = string | number | boolean;

/** A rule as the form asks for it. */
export interface ExecutionField {
  /** The key of `execution`; `commission.rate` is a key within one. */
  readonly key: string;
  readonly label: string;
  readonly hint: string;
  /** The profile's default: a number asks for one, a boolean for yes or no. */
  readonly default: Rule;
  /** The default of `backtesting.py` where it differs. */
  readonly inBacktestingPy?: Rule;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
}

const FRACTION = { min: 0, max: 0.5 } as const;
const MONEY = { min: 0, max: 1e12 } as const;
const YEARLY = { min: 0, max: 10 } as const;

const COSTS: readonly ExecutionField[] = [
  {
    key: "commission.rate",
    label: "Commission",
    hint: "Fraction of each fill's value: 0.0005 is 0.05%",
    default: 0,
    ...FRACTION,
  },
  { key: "commission.fixed", label: "Fixed commission", hint: "Money for each fill", default: 0, ...MONEY },
  { key: "commission.perUnit", label: "Commission per unit", hint: "Money for each unit", default: 0, ...MONEY },
  {
    key: "commission.minimum",
    label: "Least commission",
    hint: "Money, at least, for each fill",
    default: 0,
    ...MONEY,
  },
  {
    key: "spread",
    label: "Spread",
    hint: "Fraction of the price between buying and selling",
    default: 0,
    ...FRACTION,
  },
  {
    key: "slippage.bps",
    label: "Slippage",
    hint: "Hundredths of a percent by which market and stop orders fill worse",
    default: 0,
    min: 0,
    max: 5000,
  },
];

const SIZING: readonly ExecutionField[] = [
  {
    key: "sizing.type",
    label: "Size by",
    hint: "For orders that name no quantity",
    default: "equity_fraction",
    choices: ["equity_fraction", "units", "cash", "risk_fraction"],
  },
  { key: "sizing.value", label: "Size", hint: "1 is the whole equity; else units or money", default: 1, ...MONEY },
  {
    key: "quantityStep",
    label: "Lot",
    hint: "Quantities are rounded down to a multiple of it",
    default: 1e-8,
    inBacktestingPy: 1,
    ...MONEY,
  },
  {
    key: "exclusive",
    label: "An entry closes",
    hint: "Which open trades end when a new one begins",
    default: "opposite",
    inBacktestingPy: "any",
    choices: ["opposite", "any", "off"],
  },
];

const FILLS: readonly ExecutionField[] = [
  {
    key: "fill",
    label: "Market orders fill",
    hint: "At the next open, or at the close that decided",
    default: "next_open",
    choices: ["next_open", "close"],
  },
  {
    key: "limitFill",
    label: "Limit orders fill",
    hint: "When the price touches them, or goes beyond",
    default: "touch",
    choices: ["touch", "penetrate"],
  },
  {
    key: "bothTouched",
    label: "Stop and target in one candle",
    hint: "Which comes first; magnify looks at finer candles",
    default: "stop_first",
    choices: ["stop_first", "target_first", "nearest", "magnify"],
  },
  {
    key: "closeAtEnd",
    label: "Trades open at the end",
    hint: "Stay open, or close at the last open or close",
    default: "none",
    choices: ["none", "last_open", "last_close"],
  },
];

const MARGIN: readonly ExecutionField[] = [
  { key: "leverage", label: "Leverage", hint: "Buying power is equity times this", default: 1, min: 1, max: 1000 },
  { key: "allowShort", label: "Short positions", hint: "Without them, sells only reduce", default: true },
  {
    key: "marginCall",
    label: "Margin calls",
    hint: "Close all when equity falls below the maintenance margin",
    default: true,
    inBacktestingPy: false,
  },
  {
    key: "maintenanceMargin",
    label: "Maintenance margin",
    hint: "Fraction of the initial margin",
    default: 0.5,
    min: 0,
    max: 1,
  },
  { key: "borrowRate", label: "Borrowing units", hint: "Fraction a year on short positions", default: 0, ...YEARLY },
  { key: "marginRate", label: "Borrowing money", hint: "Fraction a year on cash below 0", default: 0, ...YEARLY },
  { key: "cashRate", label: "Interest on cash", hint: "Fraction a year on cash above 0", default: 0, ...YEARLY },
  {
    key: "fundingRate",
    label: "Funding",
    hint: "Fraction that longs pay to shorts each 8 hours",
    default: 0,
    min: -0.1,
    max: 0.1,
  },
];

export const EXECUTION_GROUPS: readonly { readonly title: string; readonly fields: readonly ExecutionField[] }[] = [
  { title: "Costs", fields: COSTS },
  { title: "Sizing", fields: SIZING },
  { title: "Fills", fields: FILLS },
  { title: "Margin and interest", fields: MARGIN },
];

/** All fields, in the order of the groups. */
export const EXECUTION_FIELDS: readonly ExecutionField[] = EXECUTION_GROUPS.flatMap(({ fields }) => fields);

/** The value of a rule where nothing is chosen. */
export function defaultOf(field: ExecutionField, profile: string): Rule {
  return profile === "backtesting.py" ? field.inBacktestingPy ?? field.default : field.default;
}
