/** An optimization as a client submits it, and the checks of what a backtest does not have. */
import { z } from "zod";
import { DIRECTIONS, METHODS } from "../../db/schema.ts";
import { METRIC_DEFINITIONS, NUMERIC_METRIC_NAMES } from "../../engine/metrics/definitions.ts";
import { type Accepting, acceptor, countLooksMax, countLookTerms } from "../../research/accepted_points.ts";
import { CONSTRAINT_LENGTH_MAX, CONSTRAINTS_MAX, countTerms, parseConstraints } from "../../research/constraints.ts";
import { isExecutionAxis, withExecutionAxes } from "../../research/execution_axes.ts";
import { countGroups } from "../../research/candle_axes.ts";
import { withMarkets } from "../../research/market_axis.ts";
import { parseSpace } from "../../research/parse_space.ts";
import { GROUPS, type PathRules } from "../../research/luck/tested_paths.ts";
import { countPoints, isOrdered, type Space } from "../../research/space.ts";
import { labelShape } from "../backtests/backtest_labels.ts";
import { runShape } from "../backtests/backtest_submission.ts";
import { AppError, hintNearest, type Issue, ISSUES_MAX } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import type { Parameters } from "../strategies/parameters.ts";
import { candleSettingsOf, readCandleAxes } from "./candle_axes_request.ts";
import { scanRequestSchema, type SubmittedScan } from "./scan_request.ts";

const TRIALS_MAX_DEFAULT = 10_000;
const TPE_TRIALS_DEFAULT = 200;
export const TRIALS_MAX = 1_000_000;
// Each round weighs all trials before it.
const TPE_TRIALS_MAX = 2_000;
// Terms of constraints that are looked at in search of a point that satisfies them, in about 20 ms. Beyond, a worker finds out.
const SEARCHED_MAX = 500_000;
/** Most bytes of a space as JSON: every list of optimizations repeats it. */
export const SPACE_BYTES_MAX = 64 * 1024;
const DAYS_MAX = 36_525;
const EMBARGO_DAYS_MAX = 1_000;
/** Most walk-forward windows of an optimization: its record holds them all. */
export const WALK_WINDOWS_MAX = 200;
export const PATH = "/optimization";

/** A record would leave this name out without a word. */
function refuseProto(space: unknown, { issues }: z.RefinementCtx): unknown {
  if (typeof space === "object" && space !== null && Object.hasOwn(space, "__proto__")) {
    issues.push({ code: "custom", path: ["__proto__"], input: space, message: "cannot be the name of a parameter" });
  }
  return space;
}

export const metricNameSchema = z.enum(NUMERIC_METRIC_NAMES);

/** An optimization as a client submits it. */
export const optimizationRequestSchema = inputObject({
  ...runShape,
  space: z.preprocess(refuseProto, z.record(z.string(), z.unknown()).optional()),
  constraints: z.array(z.string().max(CONSTRAINT_LENGTH_MAX)).max(CONSTRAINTS_MAX).default([]),
  method: z.enum(METHODS).default("grid"),
  objective: metricNameSchema.default("sharpe"),
  direction: z.enum(DIRECTIONS).optional(),
  trials_max: z.int().min(1).max(TRIALS_MAX).optional(),
  seed: z.int().min(0).default(0),
  walk_forward: inputObject({
    train_days: z.int().min(1).max(DAYS_MAX),
    test_days: z.int().min(1).max(DAYS_MAX),
    step_days: z.int().min(1).max(DAYS_MAX).optional(),
    purge_days: z.int().min(0).max(DAYS_MAX).default(0),
    anchored: z.boolean().default(false),
    carry: z.boolean().optional(),
  }).optional(),
  markets: scanRequestSchema.optional().describe("Tries each point in each of these markets, each alone."),
  tested_paths: inputObject({
    groups: z.int().min(GROUPS.min).max(GROUPS.max).default(GROUPS.default).describe(
      "Equal parts of the days, of which each choice leaves out two; there are as many accounts as other parts.",
    ),
    embargo_days: z.int().min(0).max(EMBARGO_DAYS_MAX).optional().describe(
      "Trading days that each choice leaves out on either side of what is tested; 1 % of all days unless given.",
    ),
  }).optional().describe("How the days of `luck.tested_paths` are cut."),
  name: labelShape.name,
});

const axisSchema = z.looseObject({ min: z.unknown(), values: z.unknown() }).partial().catch({});

export type OptimizationRequest = z.infer<typeof optimizationRequestSchema>;

/** @throws AppError VALIDATION_FAILED where the objective does not say whether it should be large or small. */
export function chooseDirection({ objective, direction }: OptimizationRequest): (typeof DIRECTIONS)[number] {
  if (direction !== undefined) return direction;
  const { better } = METRIC_DEFINITIONS[objective];
  if (better !== null) return better === "more" ? "max" : "min";
  throw refuse([{ path: `${PATH}/direction`, message: `is required with the objective ${objective}: "max" or "min"` }]);
}

/** The most points that a request tries. */
export function trialsMaxOf({ method, trials_max: given }: OptimizationRequest): number {
  return given ?? (method === "tpe" ? TPE_TRIALS_DEFAULT : TRIALS_MAX_DEFAULT);
}

/** A value for each parameter of a request's space, which nobody has checked yet. */
export function firstValues({ space = {} }: OptimizationRequest): Parameters {
  const values = Object.entries(space).map(([name, axis]) => {
    const { min, values } = axisSchema.parse(axis);
    return [name, Array.isArray(values) ? values[0] : min] as const;
  });
  const candles: readonly string[] = candleSettingsOf(space);
  return Object.fromEntries(
    values.filter(([name, value]) => value !== undefined && !isExecutionAxis(name) && !candles.includes(name)),
  );
}

/**
 * Reads a request's space.
 *
 * @throws AppError VALIDATION_FAILED with a pointer to each wrong part, and where the space is larger than trials_max allows, or
 * trials_max than the method.
 */
export function readSpace(request: OptimizationRequest, schema: Parameters, scan: SubmittedScan | null): Space {
  requireShortSpace(request.space);
  const candles = readCandleAxes(request, schema);
  // Without parameters to vary, one strategy runs in each market, or over each range.
  const isBatch = scan !== null || candles.length > 0;
  const own = isBatch && Object.keys(request.space ?? {}).length === candles.length
    ? { axes: [] }
    : readOwnSpace(request, schema, candles.map(({ name }) => name));
  const space = scan === null ? { axes: [...candles, ...own.axes] } : withMarkets(own, scan.ids);
  requireFewPoints(request, space, { markets: scan?.ids.length ?? 1, groups: countGroups(space) ?? 1 });
  return space;
}

/** The parameters that vary. @param others Names in the space that are none. */
function readOwnSpace(request: OptimizationRequest, schema: Parameters, others: readonly string[]): Space {
  // Settings of execution vary only where they are named.
  const known = request.space === undefined ? schema : withExecutionAxes(schema);
  const given = request.space === undefined
    ? undefined
    : Object.fromEntries(Object.entries(request.space).filter(([name]) => !others.includes(name)));
  const { value: space, issues } = parseSpace(given, known, Object.keys(request.parameters));
  if (issues !== undefined) throw refuse(issues.map(hinted(known)).map(within(`${PATH}/space`)));
  return space;
}

function requireFewPoints(
  request: OptimizationRequest,
  space: Space,
  { markets, groups }: { readonly markets: number; readonly groups: number },
): void {
  const trialsMax = trialsMaxOf(request);
  if (request.method === "tpe" && trialsMax > TPE_TRIALS_MAX) {
    const message = `must be at most ${TPE_TRIALS_MAX} with the method tpe, not ${trialsMax}`;
    throw refuse([{ path: `${PATH}/trials_max`, message }]);
  }
  const points = countPoints(space);
  if (request.method === "grid" && points > trialsMax) {
    const more = points <= TRIALS_MAX ? `raise trials_max to ${points}, ` : "";
    const what = markets === 1 ? `${points} points` : `${points / markets} points in ${markets} markets`;
    throw refuse([{
      path: `${PATH}/space`,
      message: `has ${what}, and trials_max allows ${trialsMax}: ` +
        `${more}take larger steps, or choose the method random`,
    }]);
  }
  if (trialsMax < groups) {
    const each = markets === 1 ? "for each date and timeframe" : "a market";
    const message = `must be at least ${groups}, one trial ${each}, not ${trialsMax}`;
    throw refuse([{ path: `${PATH}/trials_max`, message }]);
  }
}

/** Adds the nearest known name to the issue of an unknown parameter. */
function hinted({ properties = {}, additionalProperties }: Parameters): (issue: Issue) => Issue {
  const known = additionalProperties === false ? Object.keys(Object(properties)) : [];
  return ({ path, message }) => {
    const name = path.slice(1);
    return { path, message: known.includes(name) ? message : message + hintNearest(name, known) };
  };
}

function requireShortSpace(space: OptimizationRequest["space"]): void {
  const bytes = new TextEncoder().encode(JSON.stringify(space ?? {})).length;
  if (bytes <= SPACE_BYTES_MAX) return;
  throw refuse([{ path: `${PATH}/space`, message: `must have at most ${SPACE_BYTES_MAX} bytes, not ${bytes}` }]);
}

/**
 * Checks a request's constraints.
 *
 * @param fixed The parameters that stay.
 * @throws AppError VALIDATION_FAILED for one that does not parse or names no parameter, and where they leave no point.
 */
export function checkConstraints(request: OptimizationRequest, space: Space, fixed: Parameters): void {
  const varying = space.axes.filter(isOrdered).map(({ name }) => name);
  const numbers = Object.keys(fixed).filter((name) => typeof fixed[name] === "number");
  const { value, issues } = parseConstraints(request.constraints, [...varying, ...numbers]);
  if (issues !== undefined) throw refuse(issues.map(within(`${PATH}/constraints`)));
  const accepting = { space, constraints: value, fixed };
  const points = countPoints(space);
  requireFewLooks(request, accepting, points);
  const tried = Math.floor(SEARCHED_MAX / countLookTerms(accepting));
  const accepts = acceptor(accepting);
  for (let index = 0; index < Math.min(points, tried); index++) {
    if (accepts(index)) return;
  }
  if (points > tried) return;
  const message = `leave no point: all ${points} break one of them`;
  throw refuse([{ path: `${PATH}/constraints`, message }]);
}

/** A worker draws no more points than its time allows, so more cannot be asked for. */
function requireFewLooks(request: OptimizationRequest, accepting: Accepting, points: number): void {
  const looksMax = countLooksMax(accepting);
  const wanted = Math.min(trialsMaxOf(request), points);
  if (request.method !== "random" || wanted <= looksMax) return;
  const message = `must be at most ${looksMax} with constraints of ${countTerms(accepting.constraints)} names and ` +
    `numbers, not ${wanted}: each point that is drawn is held against them`;
  throw refuse([{ path: `${PATH}/trials_max`, message }]);
}

/** The rules of a request's tested paths; null where they are the usual ones. */
export function readPathRules({ tested_paths: asked }: OptimizationRequest): PathRules | null {
  return asked === undefined ? null : { groups: asked.groups, embargoDays: asked.embargo_days ?? null };
}

const within = (path: string) => (issue: Issue): Issue => ({ ...issue, path: path + issue.path });

export function refuse(issues: readonly Issue[]): AppError {
  const [first] = issues;
  const where = first === undefined ? "" : `: ${first.path} ${first.message}`;
  return new AppError("VALIDATION_FAILED", `Cannot accept the request${where}`, {
    issues: issues.slice(0, ISSUES_MAX),
  });
}
