/** The part of a submission that names other candles for its strategy to read. */
import { z } from "zod";
import { ASKED_CANDLES_MAX, inputLookback, INPUTS_MAX } from "../../engine/inputs.ts";
import { countPerCandle, shortestMs, type Timeframe } from "../../market/timeframes.ts";
import { chooseTargets, UnknownTargetError } from "../../market/on_demand/choose_target.ts";
import { FeedError } from "../../market/feeds/feed.ts";
import { AppError, hintNearest, quote, validationFailed } from "../common/errors.ts";
import { inputObject } from "../common/input_object.ts";
import type { UserContext } from "../common/trpc.ts";
import { marketNameSchema } from "../market_data/market_name.ts";
import { parseTimeframe, TIMEFRAME_WORDS } from "../market_data/timeframe.ts";
import type { Parameters } from "../strategies/parameters.ts";
import type { ResolvedStrategy } from "../strategies/resolve_strategy.ts";
import { PARAMETERS_PATH } from "./run_request.ts";

// As code writes it behind a point.
const NAME = /^[A-Za-z][A-Za-z0-9_]{0,31}$/;

const inputSchema = inputObject({
  timeframe: z.string().max(16).optional(),
  symbol: marketNameSchema.optional(),
  exchange: marketNameSchema.optional(),
});

const requestSchema = z.object({ inputs: z.record(z.string(), inputSchema).nullish() });

/** An input as a record keeps it. A symbol or an exchange that is absent is that of the market. */
interface CompleteInput {
  readonly timeframe: Timeframe;
  readonly symbol?: string | undefined;
  readonly exchange?: string | undefined;
}

/** The inputs of a submission. */
interface SubmittedInputs {
  readonly parameters: { readonly inputs?: Readonly<Record<string, CompleteInput>> };
  /** The most candles that they have in the range. */
  readonly candles: number;
  /** Candles of them that one decision of an endpoint may depend on; 0 for other strategies. */
  readonly asked: number;
}

/** The run that reads them. */
interface ReadingRun {
  readonly symbol: string;
  readonly exchange: string;
  readonly timeframe: Timeframe;
  readonly range: { readonly start: number; readonly end: number };
}

/**
 * Completes the inputs of a submission.
 *
 * @throws AppError VALIDATION_FAILED; INVALID_PARAMETERS for a timeframe or an instrument that nobody has, or a strategy that reads none.
 */
export async function completeInputs(
  ctx: UserContext,
  strategy: ResolvedStrategy,
  submitted: Parameters,
  run: ReadingRun,
): Promise<SubmittedInputs> {
  const parsed = requestSchema.safeParse({ inputs: submitted.inputs });
  if (!parsed.success) throw validationFailed(parsed.error, PARAMETERS_PATH);
  const wanted = Object.entries(parsed.data.inputs ?? {});
  const path = `${PARAMETERS_PATH}/inputs`;
  if (wanted.length === 0) return { parameters: {}, candles: 0, asked: 0 };
  if (wanted.length > INPUTS_MAX) throw refuse(path, `must name at most ${INPUTS_MAX} inputs, not ${wanted.length}`);
  for (const [name] of wanted) {
    if (NAME.test(name)) continue;
    throw refuse(
      path,
      `must have names of letters, digits and _ that begin with a letter, at most 32 of them, not ${quote(name)}`,
    );
  }
  requireReader(strategy, path);
  const inputs: Record<string, CompleteInput> = {};
  for (const [name, input] of wanted) {
    inputs[name] = { ...input, timeframe: chooseTimeframe(input, run, `${path}/${name}`) };
  }
  const isOfOneMarket = submitted.instruments === undefined && submitted.universe === undefined;
  await Promise.all(wanted.map(([name, { symbol, exchange }]) => {
    if (symbol === undefined && exchange === undefined) return;
    if (!isOfOneMarket && (symbol === undefined || exchange === undefined)) return;
    const named = { symbol: symbol ?? run.symbol, exchange: exchange ?? run.exchange };
    return requireTarget(ctx, named, `${path}/${name}/${symbol === undefined ? "exchange" : "symbol"}`);
  }));
  const asked = countAsked(strategy, Object.values(inputs), run, path);
  const lengthMs = run.range.end - run.range.start;
  const candles = Object.values(inputs).reduce(
    (sum, { timeframe }) => sum + Math.floor(lengthMs / shortestMs(timeframe)),
    0,
  );
  return { parameters: { inputs }, candles, asked };
}

/** An endpoint gets the history of its inputs with each request: that of one decision must not be too long. */
function countAsked(
  { runtime }: ResolvedStrategy,
  inputs: readonly CompleteInput[],
  run: ReadingRun,
  path: string,
): number {
  if (runtime?.type !== "remote") return 0;
  const { lookbackCandles } = runtime;
  const asked = inputs.reduce((sum, { timeframe }) => {
    return sum + inputLookback(lookbackCandles, countPerCandle(run.timeframe, timeframe));
  }, 0);
  const candles = lookbackCandles + 1 + asked;
  if (candles <= ASKED_CANDLES_MAX) return asked;
  const message = `must make requests of at most ${ASKED_CANDLES_MAX} candles, and a decision has ${candles}: ` +
    "choose coarser timeframes, fewer inputs or a smaller lookbackCandles";
  throw refuse(path, message);
}

/** A built-in strategy knows what it reads. */
function requireReader({ name, runtime }: ResolvedStrategy, path: string): void {
  if (runtime !== null) return;
  throw refuse(path, `cannot be read by ${name}: a built-in strategy reads its own candles alone; write a script`);
}

function chooseTimeframe(
  { timeframe: wanted, symbol, exchange }: z.infer<typeof inputSchema>,
  run: ReadingRun,
  path: string,
): Timeframe {
  if (wanted === undefined) {
    if (symbol !== undefined || exchange !== undefined) return run.timeframe;
    throw refuse(path, "needs a timeframe, a symbol or an exchange: else it is the run's own candles");
  }
  const timeframe = parseTimeframe(wanted);
  if (timeframe !== undefined) return timeframe;
  const words = TIMEFRAME_WORDS.join(", ");
  throw refuse(
    `${path}/timeframe`,
    `must be one of ${words}, not ${quote(wanted)}${hintNearest(wanted, TIMEFRAME_WORDS)}`,
  );
}

/** @throws AppError For an instrument that the archive does not hold and no feed can have. */
async function requireTarget(
  { db, readThrough }: UserContext,
  target: { readonly symbol: string; readonly exchange: string },
  path: string,
): Promise<void> {
  try {
    await chooseTargets(db, readThrough.feeds, target);
  } catch (error) {
    // A setting may be there when the run begins.
    if (error instanceof FeedError) return;
    if (!(error instanceof UnknownTargetError)) throw error;
    const { symbol, exchange } = target;
    throw refuse(path, `must be an instrument that has candles, not ${symbol} of ${exchange}: ${error.hint}`);
  }
}

function refuse(path: string, message: string): AppError {
  return new AppError("INVALID_PARAMETERS", `Cannot read other candles: ${path} ${message}`, {
    issues: [{ path, message }],
  });
}
