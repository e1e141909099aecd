import { zscore } from "../../engine/indicators/zscore.ts";
import { entrySchema, periodProperty, readNumber } from "./parameter_schema.ts";
import { type Builtin, DEFAULT_RULES, levelLine, type ParameterProperty } from "./builtin.ts";
import { signalStrategy } from "./signals.ts";

const scoreProperty = (description: string, score: number): ParameterProperty => (
  { type: "number", description, default: score, minimum: 0, maximum: 10 }
);

/** Expects closes that are unusual among the last ones to become usual again. */
export const zscoreReversion: Builtin = {
  slug: "zscore-reversion",
  name: "Z-Score Reversion",
  description:
    "Mean reversion of one market, without a pair. The score tells how many standard deviations the close lies above the mean of the last closes. Buys when it falls below minus the entry score and leaves once it is back at minus the exit score; goes short above the entry score, and covers likewise. Consider a stop loss.",
  default_frequency: "DAILY",
  min_candles: 3,
  lookback_candles: 31,
  parameter_schema: entrySchema({
    period: periodProperty("Closes in the mean and in the standard deviation (of a population)", 30, 2),
    entry: scoreProperty("Enters beyond this score", 2),
    exit: scoreProperty("Leaves once the score is this close to the mean, less than the entry score", 0),
  }),
  reasons: {
    long: "the z-score fell below its entry",
    short: "the z-score rose above its entry",
    exit_long: "the z-score came back to its exit",
    exit_short: "the z-score came back to its exit",
  },
  lines(parameters, { close }) {
    const [entry, exit] = [readNumber(parameters, "entry"), readNumber(parameters, "exit")];
    const levels = [["-entry", -entry], ["-exit", -exit], ["exit", exit], ["entry", entry]] as const;
    return [
      { name: "z-score", pane: "z-score", values: zscore(close, readNumber(parameters, "period")) },
      ...levels.map(([name, level]) => levelLine(name, "z-score", level, close.length)),
    ];
  },
  create(parameters, rules = DEFAULT_RULES) {
    const period = readNumber(parameters, "period");
    const entry = readNumber(parameters, "entry");
    const exit = readNumber(parameters, "exit");
    if (exit >= entry) throw new RangeError(`exit must be less than entry: ${exit} is not less than ${entry}`);
    return signalStrategy(parameters, rules, { warmup: period + 1 }, ({ close }, pool) => {
      const score = zscore(close, period, pool);
      return {
        buys: (i) => score[i - 1]! >= -entry && score[i]! < -entry,
        sells: (i) => score[i - 1]! <= entry && score[i]! > entry,
        leavesLong: (i) => score[i]! >= -exit,
        leavesShort: (i) => score[i]! <= exit,
      };
    });
  },
};
