/** From an optimization and a region of its heat map to the form of the next one. */
import type { Optimization } from "../../api.ts";
import { isWholeNumber, type ParameterField } from "../../parts/parameter_fields.ts";
import type { Earlier } from "../new_run/run_form.ts";
import { readConstraints } from "./constraint_form.ts";
import { isNumeric, niceStep, type PlanForm, type Range, startPlan, STEPS } from "./plan_form.ts";
import type { Pair, Region, Value } from "./region.ts";
import { SETTING_AXES } from "./setting_axes.ts";
import { NO_WALK } from "./walk_form.ts";

type Axis = Optimization["space"][string];

// Parts of a step that keep its values.
const PARTS = [10, 5, 2, 1];

/** The run that each trial is, with the region's first value of each parameter that varies. */
export function toEarlier(optimization: Optimization, region: Region): Earlier {
  const { space, parameters, markets } = optimization;
  const varied = Object.entries(space).filter(([name]) => !SETTING_AXES.some((axis) => axis.name === name));
  const first = varied.map(([name, axis]) => [name, valuesOf(axis, region[name])[0]] as const);
  const portfolio = markets === null ? {} : { portfolio: { missing: markets.missing } };
  return { ...optimization, parameters: { ...parameters, ...portfolio, ...Object.fromEntries(first) } };
}

/** The plan of the next optimization: the region's values, in finer steps where they make few of them. */
export function planNext(optimization: Optimization, region: Region, fields: readonly ParameterField[]): PlanForm {
  const { space, constraints, method, objective, direction, trials_max: most, walk_forward: walk } = optimization;
  const plan = startPlan(fields);
  return {
    ...plan,
    ...readConstraints(constraints, fields.filter(isNumeric).map(({ name }) => name)),
    ranges: fields.map((field, i) => toRange(field, space[field.name], region[field.name], plan.ranges[i]!)),
    settings: SETTING_AXES.map(({ name }) =>
      space[name] === undefined ? "" : valuesOf(space[name], region[name]).join(", ")
    ),
    method,
    objective,
    sought: { objective, direction },
    trialsMax: String(most),
    walk: walk === null ? NO_WALK : {
      isOn: true,
      trainDays: String(walk.train_days),
      testDays: String(walk.test_days),
      stepDays: String(walk.step_days),
      anchored: walk.anchored,
    },
  };
}

function toRange(field: ParameterField, axis: Axis | undefined, pair: Pair | undefined, suggested: Range): Range {
  if (axis === undefined) return { ...suggested, isVaried: false };
  const values = valuesOf(axis, pair);
  const isVaried = values.length > 1;
  if (!isVaried || !isNumeric(field)) return { ...suggested, isVaried };
  const [min, max] = [Math.min(...values.map(Number)), Math.max(...values.map(Number))];
  const isWhole = isWholeNumber(field);
  const step = "values" in axis
    ? Math.max(isWhole ? 1 : 0, niceStep((max - min) / STEPS))
    : pair === undefined
    ? axis.step
    : refine(axis.step, max - min, isWhole);
  return { isVaried, min: String(min), max: String(max), step: String(step) };
}

/** A part of the step that keeps its values, and makes few steps of the width. */
function refine(step: number, width: number, isWhole: boolean): number {
  const parts = PARTS.map((part) => round(step / part));
  return parts.find((part) => (!isWhole || Number.isInteger(part)) && round(width / part) <= STEPS) ?? step;
}

/** The values of an axis from one to another; all of them without a pair, or with one that it does not have. */
function valuesOf(axis: Axis, pair: Pair | undefined): readonly Value[] {
  const all = "values" in axis ? axis.values : stepsOf(axis);
  if (pair === undefined) return all;
  const [from, to] = pair.map((value) => all.indexOf(value));
  return from === undefined || to === undefined || from < 0 || to < from ? all : all.slice(from, to + 1);
}

function stepsOf({ min, max, step }: Extract<Axis, { min: number }>): number[] {
  return Array.from({ length: Math.round((max - min) / step) + 1 }, (_, i) => round(min + i * step));
}

function round(value: number): number {
  return Number(value.toPrecision(12));
}
