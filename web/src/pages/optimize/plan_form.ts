/** The fields of an optimization that a run does not have: as they are typed, and as they are submitted. */
import type { Metric, Optimization, OptimizationRequest } from "../../api.ts";
import { toWords } from "../../parts/format.ts";
import { isNumber, isWholeNumber, type ParameterField } from "../../parts/parameter_fields.ts";
import { startMarkets, toScan } from "../new_run/portfolio_form.ts";
import { type Chosen, type Earlier, type RunForm, toSubmission } from "../new_run/run_form.ts";
import { type Rule, toConstraint } from "./constraint_form.ts";
import { NO_SETTINGS, SETTING_AXES, toSettingAxes } from "./setting_axes.ts";
import { DAYS, NO_WALK, planWalk, toWalkForward, type WalkForm } from "./walk_form.ts";

type Objective = NonNullable<OptimizationRequest["objective"]>;

/** The values that one parameter takes, as typed. */
export interface Range {
  isVaried: boolean;
  min: string;
  max: string;
  step: string;
}

export interface PlanForm {
  /** By the position of the parameter in the schema. */
  ranges: Range[];
  rules: Rule[];
  /** Further constraints, one in each line. */
  constraints: string;
  method: NonNullable<OptimizationRequest["method"]>;
  objective: Objective;
  /** The objective with which the form began, and its direction: an earlier optimization may have chosen another than the usual one. */
  sought: Pick<Optimization, "objective" | "direction"> | null;
  trialsMax: string;
  name: string;
  walk: WalkForm;
  /** By the order of SETTING_AXES. */
  settings: string[];
}

// A first plan varies VARIED_FIRST parameters, each from half to twice its default in STEPS steps.
const VARIED_FIRST = 2;
/** Of a suggested range. */
export const STEPS = 10;
const NICE = [1, 2, 5, 10];

export const METHODS = [
  { value: "grid", label: "All combinations" },
  { value: "random", label: "A random choice of them" },
  { value: "tpe", label: "Guided by the trials so far (TPE)" },
] as const;

const USUAL: readonly string[] = ["sharpe", "sortino", "calmar", "total_return", "profit_factor"] satisfies Objective[];
// A strategy is best in these by trading seldom or by one lucky day, or they say how sure another metric is.
const NOT_SOUGHT: readonly string[] = [
  ...["sharpe_error", "sharpe_high", "peak_equity", "skew", "kurtosis", "best_day", "best_trade"],
  ...["average_win", "average_win_return", "average_loss", "average_loss_return", "max_consecutive_wins"],
  ...["max_consecutive_losses", "fees_paid", "cash_interest", "rejected_orders", "ambiguous_trades"],
];

/** The metrics that make sense as an objective, with their direction, the usual ones first. @param chosen Is among them in any case. */
export function listObjectives(metrics: readonly Metric[], chosen: string) {
  const sought = metrics.filter(({ name, better }) =>
    name === chosen || USUAL.includes(name) || (better !== null && !NOT_SOUGHT.includes(name))
  );
  // Until the metrics have arrived, the choice stands by its name.
  if (metrics.length === 0) {
    return [{ value: chosen, label: toWords(chosen), group: USUAL.includes(chosen) ? "Usual" : "Others" }];
  }
  const [usual, others] = [true, false].map((isUsual) => sought.filter(({ name }) => USUAL.includes(name) === isUsual));
  return [...usual!, ...others!].map(({ name, label, better }) => ({
    value: name,
    label: better === null ? label : `${label}, ${better === "more" ? "highest" : "lowest"}`,
    group: USUAL.includes(name) ? "Usual" : "Others",
  }));
}

/** The plan with which the form begins. */
export function startPlan(fields: readonly ParameterField[]): PlanForm {
  let varied = 0;
  const ranges = fields.map((field) => {
    const range = suggestRange(field);
    return { ...range, isVaried: range.min !== "" && Number(field.default) > 0 && varied++ < VARIED_FIRST };
  });
  const settings = [...NO_SETTINGS];
  return {
    ranges,
    rules: [],
    constraints: "",
    method: "grid",
    objective: "sharpe",
    sought: null,
    trialsMax: "1000",
    name: "",
    walk: NO_WALK,
    settings,
  };
}

/** True if a parameter can be varied in steps; others take each of their choices. */
export function isNumeric(field: ParameterField): boolean {
  return field.choices === null && isNumber(field);
}

/** The values that a parameter without steps can take; null where nothing lists them. */
export function choicesOf({ types, choices }: ParameterField): (string | number | boolean)[] | null {
  if (types.includes("boolean")) return [false, true];
  return choices?.filter((each) => typeof each === "string" || typeof each === "number" || typeof each === "boolean") ??
    null;
}

/** How many points a plan has; null while something that is typed is no number. */
export function countPoints(fields: readonly ParameterField[], ranges: readonly Range[]): number | null {
  let count = 1;
  for (const [i, field] of fields.entries()) {
    const range = ranges[i];
    if (range?.isVaried !== true) continue;
    if (!isNumeric(field)) {
      count *= choicesOf(field)?.length ?? 1;
      continue;
    }
    const [min, max, step] = [range.min, range.max, range.step].map(readNumber);
    if (min === undefined || max === undefined || step === undefined || !(step > 0) || min > max) return null;
    count *= Math.floor((max - min) / step + 1e-9) + 1;
  }
  return count;
}

/** The request that both forms submit. */
export function toOptimization(
  form: RunForm,
  plan: PlanForm,
  chosen: Chosen,
  earlier: Earlier | undefined,
): OptimizationRequest {
  const own = form.markets.isShared ? form : { ...form, markets: startMarkets(undefined) };
  const { name: _name, tags: _tags, notes: _notes, star: _star, ...run } = toSubmission(own, chosen, earlier);
  const varied = chosen.fields.map((field, i) => [field, plan.ranges[i]] as const)
    .filter(([, range]) => range?.isVaried === true);
  const settings = toSettingAxes(plan.settings);
  const names = new Set([...varied.map(([{ name }]) => name), ...Object.keys(settings)]);
  const { name, method, objective, sought, trialsMax, walk } = plan;
  const typed = plan.constraints.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return {
    ...run,
    parameters: Object.fromEntries(Object.entries(run.parameters ?? {}).filter(([key]) => !names.has(key))),
    space: { ...Object.fromEntries(varied.map(([field, range]) => [field.name, toAxis(field, range!)])), ...settings },
    ...toScan(form.markets),
    constraints: [...plan.rules.map(toConstraint), ...typed],
    method,
    objective,
    ...(sought?.objective === objective ? { direction: sought.direction } : {}),
    ...(trialsMax.trim() === "" ? {} : { trials_max: Number(trialsMax) }),
    ...(walk.isOn ? { walk_forward: toWalkForward(walk, planWalk(walk, form)) } : {}),
    ...(name.trim() === "" ? {} : { name: name.trim() }),
  };
}

/** The plan's field that a refusal's JSON pointer is about; null where it has none. */
export function planFieldAt(path: string, { fields }: Chosen, { rules }: PlanForm) {
  const [, , part = "", name = "", key = ""] = path.split("/").map((each) =>
    each.replaceAll("~1", "/").replaceAll("~0", "~")
  );
  if (part === "constraints") {
    return name !== "" && Number(name) < rules.length ? `rules.${Number(name)}` as const : "constraints" as const;
  }
  if (part === "trials_max") return "trialsMax" as const;
  if (part === "walk_forward") {
    return name === DAYS.testDays
      ? "walk.testDays" as const
      : name === DAYS.stepDays
      ? "walk.stepDays" as const
      : "walk.trainDays" as const;
  }
  if (part === "name" || part === "objective" || part === "method") return part;
  const setting = SETTING_AXES.findIndex((axis) => axis.name === name);
  if (part === "space" && setting >= 0) return `settings.${setting}` as const;
  const at = part === "space" ? fields.findIndex((field) => field.name === name) : -1;
  if (at < 0) return null;
  return `ranges.${at}.${key === "max" || key === "step" ? key : "min"}` as const;
}

function toAxis(field: ParameterField, { min, max, step }: Range): object {
  if (!isNumeric(field)) return { values: choicesOf(field) ?? [] };
  return { min: readNumber(min) ?? min, max: readNumber(max) ?? max, step: readNumber(step) ?? step };
}

function readNumber(typed: string): number | undefined {
  const value = typed.trim() === "" ? NaN : Number(typed);
  return Number.isFinite(value) ? value : undefined;
}

function suggestRange(field: ParameterField): Omit<Range, "isVaried"> {
  const value = Number(field.default);
  if (!isNumeric(field) || !Number.isFinite(value)) return { min: "", max: "", step: "" };
  const isWhole = isWholeNumber(field);
  const least = field.minimum ?? field.exclusiveMinimum ?? 0;
  const most = field.maximum ?? field.exclusiveMaximum ?? Infinity;
  const span = value > 0 ? 1.5 * value : Math.min(1, most - least);
  const step = Math.max(isWhole ? 1 : 0, niceStep(span / STEPS));
  const round = (number: number) => Number((Math.round(number / step) * step).toPrecision(12));
  const min = Math.max(value > 0 ? step : 0, round(value / 2), least);
  const max = Math.min(round(value > 0 ? value * 2 : span), most);
  return { min: String(min), max: String(max), step: String(step) };
}

/** 1, 2 or 5 times a power of ten. */
export function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return Number(((NICE.find((each) => each * power >= rough) ?? 10) * power).toPrecision(12));
}
