/** The form's values, and the way from them to a submission and from a refusal to a field. */
import type { Backtest, BacktestRequest, Instrument, Strategy } from "../../api.ts";
import { EXECUTION_FIELDS } from "./execution_fields.ts";
import { executionOf, toRules, toTexts } from "./execution_rules.ts";
import { inputFieldAt, type InputForm, startInputs, toInputs } from "./inputs_form.ts";
import {
  marketFieldAt,
  PORTFOLIO_KEYS,
  type PortfolioForm,
  startMarkets,
  toMarkets,
  withCurrency,
} from "./portfolio_form.ts";
import { timeframesFrom } from "../../parts/candle_timeframes.ts";
import { fieldsOf, fromField, isRecord, type ParameterField, toField } from "../../parts/parameter_fields.ts";
import { DAY_MS } from "../../parts/scale.ts";

const SERVICE_KEYS: ReadonlySet<string> = new Set([
  "timeframe",
  "session",
  "execution",
  "runtime",
  "inputs",
  ...PORTFOLIO_KEYS,
]);
const PARAMETERS_PATH = "/parameters/";
/** Of an optimization. */
const SCAN_PATH = "/markets/";

/** The form's values as they are typed; an empty text is the default. */
export interface RunForm {
  /** The slug of the strategy; empty for code that is not in the catalogue. */
  strategy: string;
  symbol: string;
  exchange: string;
  timeframe: string;
  start: string;
  end: string;
  balance: string;
  /** By the position of the parameter in the schema, since names may hold anything. */
  parameters: (string | boolean)[];
  profile: string;
  /** By the position of the field in EXECUTION_FIELDS. */
  execution: string[];
  markets: PortfolioForm;
  inputs: InputForm[];
}

/** The start of a form: a run, or an optimization with a value for each of its parameters. */
export type Earlier = Pick<
  Backtest,
  | "symbol"
  | "exchange"
  | "strategy"
  | "strategy_slug"
  | "start_date"
  | "end_date"
  | "initial_balance"
  | "parameters"
>;

/** The strategy of the form. */
export interface Chosen {
  readonly name: string;
  readonly description: string;
  readonly fields: readonly ParameterField[];
  /** Like `parameters.runtime`: it names an entry of the catalogue, or is code of the earlier run itself. */
  readonly runtime: Readonly<Record<string, unknown>>;
  /** Null for code that is not in the catalogue. */
  readonly entry: Strategy | null;
  /** Parameters of the earlier run that the schema does not describe. */
  readonly extras: Readonly<Record<string, unknown>>;
}

/** True if a strategy decides on many markets at once, and runs over no single one. */
export function decidesOnMarkets({ entry }: Chosen): boolean {
  return entry?.decides_on === "markets";
}

/** A strategy of the catalogue. @param earlier The run that is repeated, if it is one of this strategy. */
export function chooseEntry(entry: Strategy, earlier?: Earlier): Chosen {
  const fields = fieldsOf(entry);
  return {
    name: entry.name,
    description: entry.description,
    fields,
    runtime: { slug: entry.slug },
    entry,
    extras: earlier === undefined ? {} : extrasOf(earlier, fields),
  };
}

/** The code that a run brought along, which its checksum names: the service has it. A field for each of its parameters. */
export function chooseInline(earlier: Earlier): Chosen {
  const { runtime, ...parameters } = earlier.parameters;
  const code = isRecord(runtime) ? runtime : {};
  const own = Object.entries(parameters).filter(([name]) => !SERVICE_KEYS.has(name));
  const properties = Object.fromEntries(own.map(([name, value]) => [name, { default: value }]));
  const fields = fieldsOf({ parameter_schema: { properties }, default_config: {} });
  return {
    ...{ name: earlier.strategy, description: describeCode(code), fields, runtime: code },
    ...{ entry: null, extras: {} },
  };
}

function describeCode({ type, sha256 }: Readonly<Record<string, unknown>>): string {
  if (typeof sha256 !== "string") return "The endpoint that came with the earlier run. It is not in the catalogue.";
  const what = type === "script" ? "script" : "module";
  return `The ${what} that came with the earlier run (SHA-256 ${
    sha256.slice(0, 12)
  }…). It is not in the catalogue: this form runs the same code again, and its text is not shown.`;
}

/**
 * The values with which the form begins.
 *
 * @param held The instrument of a new run; undefined where the archive is empty.
 * @param universe The one that the run is over; absent: one market, or what the earlier run was over.
 */
export function startValues(
  chosen: Chosen,
  held: Instrument | undefined,
  earlier: Earlier | undefined,
  universe?: string,
): RunForm {
  const execution = executionOf(earlier);
  return {
    strategy: chosen.entry?.slug ?? "",
    symbol: earlier?.symbol ?? held?.symbol ?? "",
    exchange: earlier?.exchange ?? held?.exchange ?? "",
    timeframe: String(earlier?.parameters["timeframe"] ?? fitTimeframe("1h", held)),
    start: earlier?.start_date ?? held?.first?.slice(0, 10) ?? "",
    end: earlier?.end_date ?? dayAfter(held?.last ?? null),
    balance: String(earlier?.initial_balance ?? 10_000),
    parameters: chosen.fields.map(({ name, default: value }) => toField(earlier?.parameters[name] ?? value)),
    profile: String(execution["profile"] ?? "hindcast"),
    execution: toTexts(execution),
    markets: startMarkets(earlier, universe, decidesOnMarkets(chosen)),
    inputs: startInputs(earlier?.parameters),
  };
}

/** A wanted timeframe, or the shortest that an instrument has where its candles do not make that one. */
export function fitTimeframe(wanted: string, held: Pick<Instrument, "timeframes"> | undefined): string {
  const offered = timeframesFrom(held?.timeframes ?? []);
  return offered.find((each) => each === wanted) ?? offered[0] ?? wanted;
}

/** The sample, which every service has, else the first instrument with candles. */
export function findSample(instruments: readonly Instrument[]): Instrument | undefined {
  const held = instruments.filter(({ first }) => first !== null);
  return held.find(({ symbol, exchange }) => symbol === "DEMO" && exchange === "SAMPLE") ?? held[0];
}

/** The date after a time, since ranges end before their last date. */
export function dayAfter(time: string | null): string {
  return time === null ? "" : new Date(Date.parse(time) + DAY_MS).toISOString().slice(0, 10);
}

/** The request that the form submits. */
export function toSubmission(form: RunForm, chosen: Chosen, earlier: Earlier | undefined): BacktestRequest {
  const own = chosen.fields.map((field, i) => [field.name, fromField(field, form.parameters[i] ?? "")] as const)
    .filter(([, value]) => value !== undefined);
  const { symbol, exchange, start, end, balance, timeframe, profile, execution } = form;
  const session = earlier?.parameters["session"];
  return {
    symbol: symbol.trim(),
    exchange: exchange.trim(),
    strategy: chosen.name,
    start_date: start,
    end_date: end,
    initial_balance: Number(balance),
    parameters: {
      ...chosen.extras,
      ...Object.fromEntries(own),
      ...toMarkets(form.markets),
      ...toInputs(form.inputs),
      timeframe,
      ...(session === undefined || exchange !== earlier?.exchange ? {} : { session }),
      runtime: chosen.runtime,
      execution: withCurrency(toRules(profile, execution, executionOf(earlier)), form.markets),
    },
  };
}

const PLAIN_FIELDS = {
  "/symbol": "symbol",
  "/exchange": "exchange",
  "/start_date": "start",
  "/end_date": "end",
  "/initial_balance": "balance",
  "/parameters/timeframe": "timeframe",
  "/parameters/execution/profile": "profile",
} as const satisfies Record<string, keyof RunForm>;

/**
 * The field that a refusal's JSON pointer is about, or lies in; null where the form has none.
 *
 * @param pointer Begins with the request's name.
 * @param inputs Of the form.
 */
export function fieldAt(pointer: string, { fields }: Chosen, inputs: readonly InputForm[]) {
  const path = pointer.replace(/^\/\w+/, "");
  const plain = Object.entries(PLAIN_FIELDS).find(([own]) => own === path)?.[1];
  if (plain !== undefined) return plain;
  if (path.startsWith(SCAN_PATH)) return marketFieldAt(path.slice(SCAN_PATH.length).split("/")[0] ?? "", undefined);
  if (!path.startsWith(PARAMETERS_PATH)) return null;
  const [name = "", ...rest] = path.slice(PARAMETERS_PATH.length).split("/").map(unescapePointer);
  if (name === "execution") {
    const key = rest.join(".");
    if (key === "baseCurrency") return "markets.currency";
    const exact = EXECUTION_FIELDS.findIndex((field) => field.key === key);
    const rule = exact === -1 ? EXECUTION_FIELDS.findIndex((field) => field.key.startsWith(`${rest[0]}.`)) : exact;
    return rule === -1 ? null : `execution.${rule}` as const;
  }
  if (name === "inputs") return inputs.length === 0 ? null : inputFieldAt(rest, inputs);
  const market = marketFieldAt(name, rest[0]);
  if (market !== null) return market;
  const parameter = fields.findIndex((field) => field.name === name);
  return parameter === -1 ? null : `parameters.${parameter}` as const;
}

function unescapePointer(part: string): string {
  return part.replaceAll("~1", "/").replaceAll("~0", "~");
}

function extrasOf({ parameters }: Earlier, fields: readonly ParameterField[]): Record<string, unknown> {
  const known = new Set([...SERVICE_KEYS, ...fields.map(({ name }) => name)]);
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !known.has(name)));
}
