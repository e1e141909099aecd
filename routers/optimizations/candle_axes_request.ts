/** The part of a space that varies the dates and the timeframe of its trials. */
import { z } from "zod";
import type { NewScanMarket } from "../../db/scan_markets.ts";
import { PORTFOLIO_MARKETS_MAX } from "../../engine/portfolio/portfolio.ts";
import { CANDLE_SETTINGS, candleAxis, candlesAt, countGroups } from "../../research/candle_axes.ts";
import { SPACE_VALUES_MAX } from "../../research/parse_space.ts";
import type { CandleSetting, ListedAxis, Space } from "../../research/space.ts";
import { dateSchema } from "../common/dates.ts";
import { AppError, hintNearest, quote } from "../common/errors.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "../market_data/timeframe.ts";
import type { Parameters } from "../strategies/parameters.ts";

const PATH = "/optimization/space";
/** Most combinations of dates and timeframes: their candles are read one after the other. */
const GROUPS_MAX = PORTFOLIO_MARKETS_MAX;

const listSchema = z.strictObject({ values: z.array(z.string()).min(1).max(SPACE_VALUES_MAX) });

interface VaryingRequest {
  readonly space?: Parameters | undefined;
  readonly parameters: Parameters;
  readonly symbol: string;
  readonly exchange: string;
  readonly start_date: string;
  readonly end_date: string;
  readonly method: string;
  readonly markets?: object | undefined;
  readonly walk_forward?: object | undefined;
}

/** The settings of candles that a request's space varies. A strategy's own parameter of such a name stays its parameter. */
export function candleSettingsOf(space: Parameters | undefined, schema: Parameters = {}): readonly CandleSetting[] {
  const own: object = Object(schema["properties"]);
  return CANDLE_SETTINGS.filter((name) =>
    space !== undefined && Object.hasOwn(space, name) && (name === "timeframe" || !Object.hasOwn(own, name))
  );
}

/**
 * Reads the axes of dates and timeframes.
 *
 * @param schema The strategy's parameter_schema.
 * @returns None without such an axis.
 * @throws AppError VALIDATION_FAILED with a pointer to what is wrong.
 */
export function readCandleAxes(request: VaryingRequest, schema: Parameters): readonly ListedAxis[] {
  const names = candleSettingsOf(request.space, schema);
  if (names.length === 0) return [];
  for (const name of names) requireVariable(request, name);
  const axes = names.map((name) => candleAxis(name, readValues(request, name)));
  requireRanges(request, axes);
  const groups = axes.reduce((count, axis) => count * axis.count, 1);
  if (groups <= GROUPS_MAX) return axes;
  throw refuse(
    names[0]!,
    `makes ${groups} combinations of dates and timeframes, and at most ${GROUPS_MAX} are allowed`,
  );
}

/** @throws AppError VALIDATION_FAILED where something else of the request needs one range and one timeframe. */
function requireVariable(
  { parameters, method, markets, walk_forward: walk }: VaryingRequest,
  name: CandleSetting,
): void {
  const obstacle = markets !== undefined
    ? "cannot vary beside markets: run an optimization for each value"
    : walk !== undefined
    ? "cannot vary beside walk_forward, whose windows have dates of their own: run one for each value"
    : parameters["instruments"] !== undefined || parameters["universe"] !== undefined
    ? "cannot vary with one account over many markets: run an optimization for each value"
    : method === "tpe"
    ? "cannot vary with the method tpe: use grid or random"
    : name === "timeframe" && parameters["timeframe"] !== undefined
    ? "is fixed in parameters: leave it out there or here"
    : name === "timeframe" && parameters["inputs"] !== undefined
    ? "cannot vary beside inputs, which belong to one timeframe: run an optimization for each value"
    : null;
  if (obstacle !== null) throw refuse(name, obstacle);
}

function readValues({ space = {} }: VaryingRequest, name: CandleSetting): string[] {
  const parsed = listSchema.safeParse(space[name]);
  if (!parsed.success) {
    throw refuse(name, `must be {"values": […]} of 1 to ${SPACE_VALUES_MAX} texts, not ${quote(space[name])}`);
  }
  const values = parsed.data.values.map((value, i) => {
    const at = `${name}/values/${i}`;
    if (name !== "timeframe") {
      if (dateSchema.safeParse(value).success) return value;
      throw refuse(at, `must be a calendar date YYYY-MM-DD, not ${quote(value)}`);
    }
    const timeframe = parseTimeframe(value);
    if (timeframe !== undefined) return timeframe;
    const words = TIMEFRAME_WORDS.join(", ");
    throw refuse(at, `must be one of ${words}, not ${quote(value)}${hintNearest(value, TIMEFRAME_WORDS)}`);
  });
  const twice = values.findIndex((value, i) => values.indexOf(value) < i);
  if (twice < 0) return values;
  throw refuse(`${name}/values/${twice}`, `names ${quote(values[twice]!)} twice`);
}

/** Every combination must be a range within that of the request. */
function requireRanges({ start_date: start, end_date: end }: VaryingRequest, axes: readonly ListedAxis[]): void {
  const valuesOf = (name: CandleSetting) => axes.find((axis) => axis.name === name)?.values.map(String) ?? [];
  const [starts, ends] = [valuesOf("start_date"), valuesOf("end_date")];
  const firstEnd = ends.toSorted()[0] ?? end;
  for (const [i, value] of starts.entries()) {
    if (value < start) throw refuse(`start_date/values/${i}`, `must not be before start_date ${start}, not ${value}`);
    if (value >= firstEnd) {
      throw refuse(`start_date/values/${i}`, `must be before every end, ${firstEnd}, not ${value}`);
    }
  }
  for (const [i, value] of ends.entries()) {
    if (value > end) throw refuse(`end_date/values/${i}`, `must not be after end_date ${end}, not ${value}`);
    if (value <= start) throw refuse(`end_date/values/${i}`, `must be after start_date ${start}, not ${value}`);
  }
}

/** The candles of each combination of dates and timeframes, by its number. */
export function listCandleGroups(
  { symbol, exchange, start_date, end_date }: VaryingRequest,
  space: Space,
): NewScanMarket[] {
  return Array.from({ length: countGroups(space) ?? 0 }, (_, group) => {
    const { start_date: startDate = start_date, end_date: endDate = end_date } = candlesAt(space, group);
    return { symbol, exchange, startDate, endDate };
  });
}

function refuse(at: string, message: string): AppError {
  const path = `${PATH}/${at}`;
  return new AppError("VALIDATION_FAILED", `Cannot accept the request: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
